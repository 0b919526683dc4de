//! Ctrl-C and SIGTERM: end the child, let the rest of the program clean up.

use std::process::{Command, Output};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::errors::Error;

/// What was asked to stop, and the child that has to stop first.
#[derive(Debug, Default)]
pub(crate) struct Interrupt {
    signal: AtomicI32,
    child: Mutex<Option<Pid>>,
}

impl Interrupt {
    /// Listens from now on, in a thread of its own.
    pub(crate) fn install() -> Result<Arc<Self>, Error> {
        let interrupt = Arc::new(Self::default());
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        thread::spawn({
            let interrupt = Arc::clone(&interrupt);
            move || signals.forever().for_each(|signal| interrupt.stop(signal))
        });
        Ok(interrupt)
    }

    fn stop(&self, signal: i32) {
        self.signal.store(signal, Ordering::SeqCst);
        if let Some(child) = *self.child.lock().unwrap_or_else(PoisonError::into_inner) {
            // It fails where the child has just ended by itself.
            let _ = kill(child, Signal::SIGKILL);
        }
    }

    /// Error::Interrupted once somebody wants to stop.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.signal.load(Ordering::SeqCst) {
            0 => Ok(()),
            signal => Err(Error::Interrupted(u8::try_from(signal).unwrap_or(u8::MAX))),
        }
    }

    /// Runs a child to its end, or to the interruption. Its pipes must hold all that it says.
    pub(crate) fn run(&self, command: &mut Command) -> Result<Output, Error> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        self.check()?;
        let running = command.spawn()?;
        let pid = Pid::from_raw(i32::try_from(running.id()).unwrap_or(i32::MAX));
        *child = Some(pid);
        drop(child);
        // It stays a zombie until nobody can kill it any more: its number could be another process's by then.
        let ended = waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT);
        *self.child.lock().unwrap_or_else(PoisonError::into_inner) = None;
        ended?;
        let output = running.wait_with_output()?;
        self.check()?;
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_child_runs_to_its_end() {
        let output = Interrupt::default()
            .run(Command::new("echo").arg("x").stdout(Stdio::piped()))
            .unwrap();
        assert_eq!(output.stdout, b"x\n");
    }

    #[test]
    fn a_child_does_not_outlive_the_interruption() {
        let interrupt = Arc::new(Interrupt::default());
        let began = Instant::now();
        thread::spawn({
            let interrupt = Arc::clone(&interrupt);
            move || {
                thread::sleep(Duration::from_millis(100));
                interrupt.stop(SIGINT);
            }
        });
        let told = interrupt.run(Command::new("sleep").arg("60")).unwrap_err();
        assert!(matches!(told, Error::Interrupted(2)), "{told}");
        assert!(began.elapsed() < Duration::from_secs(30));
        assert!(interrupt.run(&mut Command::new("true")).is_err());
    }
}
