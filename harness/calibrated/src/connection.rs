//! One connection: reads heads, answers them, lies if it is told to.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::behaviour::Kind;
use crate::state::State;
use crate::system::reset;

pub const BODY: &str = "calibrated";
const HANG: Duration = Duration::from_secs(30);
const MOST: usize = 64 * 1024;

/// The next request's head; None when the connection ends. No request here has a body.
pub fn read_head(stream: &mut TcpStream, unread: &mut Vec<u8>) -> Option<String> {
    let mut part = [0_u8; 4096];
    loop {
        if let Some(end) = unread.windows(4).position(|w| w == b"\r\n\r\n") {
            let head: Vec<u8> = unread.drain(..end + 4).collect();
            return Some(String::from_utf8_lossy(&head).into_owned());
        }
        let got = stream.read(&mut part).ok()?;
        if got == 0 || unread.len() > MOST {
            return None;
        }
        unread.extend_from_slice(&part[..got]);
    }
}

pub fn answer(status: &str, kind: &str, body: &str, more: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {length}\r\n\r\n{body}")
}

/// The harness's own requests look as oha's, but for the place of Host, which is first in theirs. vegeta's begin with Host,
/// too, and go on with User-Agent.
fn is_generators(head: &str) -> bool {
    let head = head.to_ascii_lowercase();
    let mut fields = head.split("\r\n").skip(1);
    let (first, second) = (fields.next().unwrap_or(""), fields.next().unwrap_or(""));
    let own = first.starts_with("host:") && !second.starts_with("user-agent:");
    !own && head.contains("\r\nuser-agent: oha")
}

/// Serves one connection until its end. Times apply to the generator alone, and it alone is logged; lies are
/// told to everybody.
pub fn serve(mut stream: TcpStream, state: &State) {
    let _ = stream.set_nodelay(true);
    let mut unread = Vec::new();
    while let Some(head) = read_head(&mut stream, &mut unread) {
        let arrival = Instant::now();
        let armed = state.armed();
        let text = match armed.behaviour.kind {
            _ if head.starts_with("GET /healthz ") => answer("200 OK", "text/plain", "ok", ""),
            Kind::Fail => answer("500 Internal Server Error", "text/plain", "no", ""),
            Kind::Short => answer("200 OK", "text/plain", &BODY[..BODY.len() / 2], ""),
            Kind::Redirect => answer("302 Found", "text/plain", "", "Location: /healthz\r\n"),
            Kind::Close => answer("200 OK", "text/plain", BODY, "Connection: close\r\n"),
            Kind::Refuse => return,
            Kind::Reset => {
                let _ = stream.write_all(&armed.right.as_bytes()[..armed.right.len() - BODY.len() / 2]);
                // The proxy gets a moment to see the head by itself.
                thread::sleep(Duration::from_millis(1));
                reset(stream);
                return;
            }
            Kind::Hang => {
                thread::sleep(HANG);
                return;
            }
            _ => {
                if is_generators(&head) {
                    let served = state.serve(&armed, arrival);
                    state.note(arrival, served);
                }
                armed.right.clone()
            }
        };
        if stream.write_all(text.as_bytes()).is_err() || armed.behaviour.kind == Kind::Close {
            return;
        }
    }
}
