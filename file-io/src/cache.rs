//! The page cache: filled or emptied before a measurement, and the proof afterwards.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use clap::ValueEnum;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use serde::Serialize;

use crate::errors::Error;
use crate::interrupt::Interrupt;

const READ_BYTES: usize = 1 << 20;
/// Up to this share of the files may come from the disk when they are hot,
const HOT_AT_MOST: f64 = 0.01;
/// or so many bytes: pages of a program or library that is used for the first time count as well.
const HOT_AT_MOST_BYTES: u64 = 256 << 10;
/// From this share on they count as cold.
const COLD_AT_LEAST: f64 = 0.95;

/// Where the files are before a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// In the page cache.
    Hot,
    /// On the disk only. A host below this machine may have them in its own memory.
    Cold,
}

impl State {
    pub(crate) fn prepare(self, files: &[PathBuf], interrupt: &Interrupt) -> Result<(), Error> {
        let mut block = match self {
            Self::Hot => vec![0; READ_BYTES],
            Self::Cold => Vec::new(),
        };
        for path in files {
            interrupt.check()?;
            let mut file = File::open(path).map_err(Error::at(path))?;
            match self {
                Self::Hot => while file.read(&mut block).map_err(Error::at(path))? > 0 {},
                Self::Cold => {
                    posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a measurement met this state: by the bytes that it had the disk read. None: not known.
    pub(crate) fn achieved(self, disk_read_bytes: Option<u64>, bytes: u64) -> Option<bool> {
        let read = disk_read_bytes?;
        let share = read as f64 / bytes as f64;
        Some(match self {
            Self::Hot => share <= HOT_AT_MOST || read <= HOT_AT_MOST_BYTES,
            Self::Cold => share >= COLD_AT_LEAST,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_from_the_disk_decides() {
        let size = 1 << 30;
        for (read, hot, cold) in [
            (0, true, false),
            (size / 2, false, false),
            (size, false, true),
        ] {
            assert_eq!(State::Hot.achieved(Some(read), size), Some(hot), "{read}");
            assert_eq!(State::Cold.achieved(Some(read), size), Some(cold), "{read}");
        }
        assert_eq!(
            State::Hot.achieved(Some(64 << 10), 1 << 20),
            Some(true),
            "of the program"
        );
        assert_eq!(State::Cold.achieved(None, 1000), None);
    }
}
