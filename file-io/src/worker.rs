//! One measurement, in a process of its own: it says on its standard output what it did.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use nix::sys::time::{TimeVal, TimeValLike};
use serde::{Deserialize, Serialize};

use crate::arguments::Request;
use crate::errors::Error;
use crate::variants::{Reading, Stop, Work};

/// What a child process tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub(crate) enum Told {
    Counted(Counted),
    Unavailable { reason: String },
}

/// What counting took, from the list of files to the count: the start of a runtime is part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub(crate) lines: u64,
    pub(crate) elapsed_ms: f64,
    /// Of all threads, in the program and in the kernel.
    pub(crate) cpu_user_ms: f64,
    pub(crate) cpu_system_ms: f64,
    /// Of the whole process, its start with it.
    pub(crate) peak_memory_bytes: Option<u64>,
    /// What it had the disk read; null where the kernel does not count.
    pub(crate) disk_read_bytes: Option<u64>,
}

/// Measures and prints one `Told`.
pub(crate) fn run(request: &Request) -> Result<(), Error> {
    // Where the parent is killed, nobody is left who could end this.
    set_pdeathsig(Signal::SIGKILL)?;
    let work = Work {
        files: csv_files(&request.folder)?,
        reading: Reading {
            buffer_bytes: request.buffer_bytes,
            in_place: request.way.in_place,
        },
        threads: request.threads,
    };
    let before = Counters::read()?;
    let began = Instant::now();
    let result = (request.way.variant.run)(&work);
    let elapsed = began.elapsed();
    let after = Counters::read()?;
    let told = match result {
        Ok(lines) => Told::Counted(Counted {
            lines,
            elapsed_ms: milliseconds(elapsed),
            cpu_user_ms: milliseconds(after.user - before.user),
            cpu_system_ms: milliseconds(after.system - before.system),
            peak_memory_bytes: value("/proc/self/status", "VmHWM:").map(|kib| kib * 1024),
            disk_read_bytes: after
                .disk_read_bytes
                .zip(before.disk_read_bytes)
                .map(|(b, a)| b - a),
        }),
        Err(Stop::Unavailable(reason)) => Told::Unavailable { reason },
        Err(Stop::Io(error)) => return Err(error.into()),
    };
    let text = serde_json::to_string(&told).map_err(io::Error::from)?;
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}

/// The files of a sample, sorted by name: every variant meets them in the same order.
fn csv_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(Error::at(folder))?;
    let paths: io::Result<Vec<_>> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(Error::at(folder))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
    paths.sort();
    Ok(paths)
}

struct Counters {
    user: Duration,
    system: Duration,
    disk_read_bytes: Option<u64>,
}

impl Counters {
    fn read() -> Result<Self, Error> {
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        Ok(Self {
            user: duration(usage.user_time()),
            system: duration(usage.system_time()),
            disk_read_bytes: value("/proc/self/io", "read_bytes:"),
        })
    }
}

fn duration(time: TimeVal) -> Duration {
    Duration::from_micros(time.num_microseconds().unsigned_abs())
}

fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// The number behind a key in a file of /proc; None where the kernel does not give it.
fn value(file: &str, key: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_counts() {
        let mut block = vec![1_u8; 32 << 20];
        block[1000] = 2;
        assert!(value("/proc/self/status", "VmHWM:").unwrap() > 32 << 10);
        assert_eq!(value("/proc/self/status", "NoSuchKey:"), None);
        assert_eq!(value("/proc/no/such/file", "VmHWM:"), None);
        let before = Counters::read().unwrap();
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(50) {
            std::hint::black_box(block.iter().map(|&byte| u64::from(byte)).sum::<u64>());
        }
        let after = Counters::read().unwrap();
        let spent = (after.user + after.system) - (before.user + before.system);
        assert!(spent > Duration::from_millis(20), "{spent:?}");
    }

    #[test]
    fn only_csv_files_are_read_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv", "a.txt", "csv"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let found = csv_files(folder.path()).unwrap();
        assert_eq!(
            found,
            [folder.path().join("a.csv"), folder.path().join("b.csv")]
        );
    }

    #[test]
    fn what_is_told_has_one_form() {
        let told = Told::Unavailable {
            reason: "r".to_owned(),
        };
        let text = serde_json::to_string(&told).unwrap();
        assert_eq!(text, r#"{"outcome":"unavailable","reason":"r"}"#);
        assert_eq!(serde_json::from_str::<Told>(&text).unwrap(), told);
    }
}
