//! io_uring, by compio: the kernel reads while the one thread of a ring counts. No other driver is compiled in, so
//! a kernel that refuses is seen.

use std::fs;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::thread;

use compio::fs::File;
use compio::io::{AsyncBufRead, BufReader};
use compio::runtime::{Runtime, spawn};
use nix::errno::Errno;

use super::blocking::{joined, named};
use super::{Stop, Work};

/// 2: for nobody; 1: for a group; 0: for all.
const DISABLED: &str = "/proc/sys/kernel/io_uring_disabled";

async fn count(path: PathBuf, buffer_bytes: usize) -> io::Result<u64> {
    read(&path, buffer_bytes)
        .await
        .map_err(|error| named(&path, &error))
}

/// compio reads no lines by itself: they are counted where they lie.
async fn read(path: &Path, buffer_bytes: usize) -> io::Result<u64> {
    let file = File::open(path).await?;
    let mut reader = BufReader::with_capacity(buffer_bytes, Cursor::new(file));
    count_in_place!(reader)
}

/// A ring with a task for each of the files.
fn ring(files: Vec<PathBuf>, buffer_bytes: usize) -> Result<u64, Stop> {
    let runtime = Runtime::new().map_err(|error| refused(&error))?;
    let counted: io::Result<u64> = runtime.block_on(async {
        let tasks: Vec<_> = files
            .into_iter()
            .map(|path| spawn(count(path, buffer_bytes)))
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task
                .await
                .map_err(|error| io::Error::other(format!("{error:?}")))??;
        }
        Ok(sum)
    });
    Ok(counted?)
}

pub(super) fn one_thread(work: &Work) -> Result<u64, Stop> {
    ring(work.files.clone(), work.reading.buffer_bytes)
}

pub(super) fn thread_per_cpu(work: &Work) -> Result<u64, Stop> {
    thread::scope(|scope| {
        let share = |of: usize| {
            work.files
                .iter()
                .skip(of)
                .step_by(work.threads)
                .cloned()
                .collect()
        };
        let running: Vec<_> = (0..work.threads)
            .map(|of| {
                let files = share(of);
                scope.spawn(move || ring(files, work.reading.buffer_bytes))
            })
            .collect();
        running
            .into_iter()
            .try_fold(0, |sum, thread| Ok(sum + joined(thread.join())?))
    })
}

/// Why there is no ring.
fn refused(error: &io::Error) -> Stop {
    let disabled = fs::read_to_string(DISABLED).unwrap_or_default();
    Stop::Unavailable(match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOSYS) => {
            "io_uring is unknown to the kernel or to the seccomp filter".to_owned()
        }
        Some(Errno::EPERM) if matches!(disabled.trim(), "1" | "2") => {
            format!(
                "io_uring is switched off: kernel.io_uring_disabled is {}",
                disabled.trim()
            )
        }
        Some(Errno::EPERM) => "io_uring is refused, by the seccomp filter it seems".to_owned(),
        _ => format!("io_uring gives no ring: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_its_reason() {
        for (errno, word) in [
            (Errno::ENOSYS, "unknown"),
            (Errno::EPERM, "io_uring is "),
            (Errno::ENOMEM, "no ring"),
        ] {
            let told = refused(&io::Error::from_raw_os_error(errno as i32)).to_string();
            assert!(told.contains(word), "{told}");
        }
    }
}
