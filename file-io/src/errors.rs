//! What can go wrong, in one line each that says what to do.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Usage(String),
    #[error(
        "{0} exists: asynctest makes its folder and removes it, so name one that does not exist"
    )]
    Exists(PathBuf),
    #[error(
        "{files} files with {lines} lines need {need} and {folder} has {free} free: at most {fit} lines fit"
    )]
    TooLarge {
        folder: PathBuf,
        files: u32,
        lines: u64,
        need: String,
        free: String,
        fit: u64,
    },
    #[error("the disk of {0} became full: free some space or ask for fewer lines")]
    DiskFull(PathBuf),
    #[error(
        "{name} counted {counted} lines where there are {lines}: nothing of this run can be used"
    )]
    WrongCount {
        name: String,
        counted: u64,
        lines: u64,
    },
    #[error("{name} failed: {said}")]
    Worker { name: String, said: String },
    #[error("interrupted")]
    Interrupted(u8),
    #[error("{path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Error {
    /// For `map_err` after something was done with a file. A full disk is told as such.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::DiskFull(path.to_owned())
            }
            _ => Self::File {
                path: path.to_owned(),
                source,
            },
        }
    }
}

impl From<nix::Error> for Error {
    fn from(error: nix::Error) -> Self {
        Self::Io(error.into())
    }
}
