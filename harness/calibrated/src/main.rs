//! A server whose times are known beforehand. Port 8080 is measured; port 8081 arms it and gives its log.

mod behaviour;
mod connection;
mod state;
mod system;

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use behaviour::{Behaviour, Kind};
use connection::{answer, read_head};
use state::State;

const PORT: u16 = 8080;
const CONTROL: u16 = 8081;
const STACK_BYTES: usize = 128 * 1024;

fn main() -> std::io::Result<()> {
    system::end_on_sigterm();
    let state = Arc::new(State::new());
    let control = TcpListener::bind(("0.0.0.0", CONTROL))?;
    let shared = state.clone();
    thread::spawn(move || control.incoming().flatten().for_each(|stream| obey(stream, &shared)));
    loop {
        listen(&state)?;
        while state.armed().behaviour.kind == Kind::Refuse {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Accepts until it is armed to refuse.
fn listen(state: &Arc<State>) -> std::io::Result<()> {
    let listener = TcpListener::bind(("0.0.0.0", PORT))?;
    for stream in listener.incoming() {
        if state.armed().behaviour.kind == Kind::Refuse {
            break;
        }
        let (stream, state) = (stream?, state.clone());
        thread::Builder::new().stack_size(STACK_BYTES).spawn(move || connection::serve(stream, &state))?;
    }
    Ok(())
}

/// `GET /arm?kind=…` and `GET /log`, one request a connection.
fn obey(mut stream: TcpStream, state: &State) {
    let Some(head) = read_head(&mut stream, &mut Vec::new()) else { return };
    let target = head.split(' ').nth(1).unwrap_or("/");
    let (status, body) = match target.split_once('?').unwrap_or((target, "")) {
        ("/arm", query) => match Behaviour::parse(query) {
            Ok(behaviour) => {
                state.arm(behaviour);
                // Whoever waits in accept looks again.
                let _ = TcpStream::connect(("127.0.0.1", PORT));
                ("200 OK", String::from("armed"))
            }
            Err(text) => ("400 Bad Request", text),
        },
        ("/log", _) => ("200 OK", state.csv()),
        _ => ("404 Not Found", String::new()),
    };
    let _ = stream.write_all(answer(status, "text/plain", &body, "Connection: close\r\n").as_bytes());
}
