//! The four things of the C library that the standard library does not offer.

use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::Duration;

const SIGTERM: i32 = 15;
const SOL_SOCKET: i32 = 1;
const SO_LINGER: i32 = 13;
const CLOCK_THREAD_CPUTIME_ID: i32 = 3;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    fn _exit(status: i32) -> !;
    fn setsockopt(fd: i32, level: i32, name: i32, value: *const [i32; 2], length: u32) -> i32;
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

extern "C" fn leave(_: i32) {
    unsafe { _exit(0) }
}

/// SIGTERM ends the process at once, with status 0. The first process of a container has no default for it.
pub fn end_on_sigterm() {
    unsafe { signal(SIGTERM, leave) };
}

/// Closes a connection with a reset instead of an orderly end.
pub fn reset(stream: TcpStream) {
    let (on, no_seconds) = (1, 0);
    unsafe { setsockopt(stream.as_raw_fd(), SOL_SOCKET, SO_LINGER, &[on, no_seconds], 8) };
    drop(stream);
}

fn thread_cpu() -> Duration {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.seconds as u64, time.nanoseconds as u32)
}

/// Uses so much CPU time, by the thread's own clock: being preempted does not count.
pub fn burn(cpu: Duration) {
    let end = thread_cpu() + cpu;
    while thread_cpu() < end {
        std::hint::black_box((0..50_u64).fold(1, |a: u64, b| a.wrapping_mul(b | 1)));
    }
}
