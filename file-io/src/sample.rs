//! The files that are read: made here, removed when the value is dropped.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::errors::Error;
use crate::interrupt::Interrupt;
use crate::space::{self, Case};

const WRITE_BYTES: usize = 1 << 20;
/// Rows between two looks at whether somebody wants to stop.
const CHECKED_ROWS: u64 = 1 << 16;

/// A folder that this process made, with its files.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) folder: PathBuf,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) bytes: u64,
}

impl Sample {
    /// Makes the folder and its files, down to the disk. Leaves nothing behind where it fails.
    pub(crate) fn make(folder: &Path, case: Case, interrupt: &Interrupt) -> Result<Self, Error> {
        match fs::create_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::Exists(folder.to_owned()));
            }
            done => done.map_err(Error::at(folder))?,
        }
        let mut sample = Self {
            folder: folder.to_owned(),
            files: Vec::new(),
            bytes: case.bytes(),
        };
        case.fits(folder, space::free(folder)?)?;
        for index in 0..case.files {
            let path = folder.join(format!("test{index}.csv"));
            let file = File::create_new(&path).map_err(Error::at(folder))?;
            sample.files.push(path.clone());
            fill(&file, index, case.rows(index), &path, interrupt)?;
        }
        Ok(sample)
    }
}

impl Drop for Sample {
    /// Removes what was made here, and the folder if nobody else put something into it.
    fn drop(&mut self) {
        let removed = self.files.iter().try_for_each(fs::remove_file);
        if let Err(error) = removed.and_then(|()| fs::remove_dir(&self.folder)) {
            eprintln!(
                "asynctest: {} could not be removed: {error}",
                self.folder.display()
            );
        }
    }
}

/// Writes the rows of a file and waits until the disk has them: only clean pages can be dropped for a cold read,
/// and nothing is written back while something is measured.
fn fill(
    file: &File,
    index: u32,
    rows: u64,
    path: &Path,
    interrupt: &Interrupt,
) -> Result<(), Error> {
    let mut out = BufWriter::with_capacity(WRITE_BYTES, file);
    let (mut row_text, mut nanos_text) = (itoa::Buffer::new(), itoa::Buffer::new());
    let start = format!("{index},");
    for row in 0..rows {
        if row % CHECKED_ROWS == 0 {
            interrupt.check()?;
        }
        let parts = [
            start.as_bytes(),
            row_text.format(row).as_bytes(),
            b",",
            nanos_text.format(unix_nanos()).as_bytes(),
            b"\n",
        ];
        parts
            .iter()
            .try_for_each(|part| out.write_all(part))
            .map_err(Error::at(path))?;
    }
    out.flush()
        .and_then(|()| file.sync_data())
        .map_err(Error::at(path))
}

fn unix_nanos() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(parent: &Path, files: u32, lines: u64) -> Sample {
        let case = Case { files, lines };
        Sample::make(&parent.join("sample"), case, &Interrupt::default()).unwrap()
    }

    #[test]
    fn the_lines_are_those_that_were_published() {
        let parent = tempfile::tempdir().unwrap();
        let sample = made(parent.path(), 3, 100);
        let mut bytes = 0;
        for (index, path) in sample.files.iter().enumerate() {
            let text = fs::read_to_string(path).unwrap();
            bytes += text.len() as u64;
            for (row, line) in text.lines().enumerate() {
                let fields: Vec<_> = line.split(',').collect();
                assert_eq!(fields[..2], [index.to_string(), row.to_string()]);
                assert_eq!(fields[2].parse::<u64>().unwrap().to_string().len(), 19);
            }
            assert_eq!(text.lines().count(), if index == 0 { 34 } else { 33 });
        }
        assert_eq!(bytes, sample.bytes);
    }

    #[test]
    fn the_folder_goes_with_the_value() {
        let parent = tempfile::tempdir().unwrap();
        let sample = made(parent.path(), 2, 10);
        let folder = sample.folder.clone();
        assert!(folder.exists());
        drop(sample);
        assert!(!folder.exists());
    }

    #[test]
    fn what_somebody_else_put_there_stays() {
        let parent = tempfile::tempdir().unwrap();
        let sample = made(parent.path(), 2, 10);
        let other = sample.folder.join("other");
        fs::write(&other, "precious").unwrap();
        drop(sample);
        assert_eq!(fs::read_to_string(other).unwrap(), "precious");
    }

    #[test]
    fn a_folder_that_exists_is_refused_and_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        let case = Case { files: 1, lines: 1 };
        let told = Sample::make(parent.path(), case, &Interrupt::default()).unwrap_err();
        assert!(matches!(told, Error::Exists(_)), "{told}");
        assert!(parent.path().exists());
    }

    #[test]
    fn a_case_that_does_not_fit_leaves_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("sample");
        let case = Case {
            files: 10,
            lines: 100_000_000_000_000,
        };
        let told = Sample::make(&folder, case, &Interrupt::default()).unwrap_err();
        assert!(matches!(told, Error::TooLarge { .. }), "{told}");
        assert!(!folder.exists());
    }

    #[test]
    fn a_full_disk_is_told_as_such() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let path = Path::new("/dev/full");
        let told = fill(&full, 0, 10, path, &Interrupt::default()).unwrap_err();
        assert!(matches!(told, Error::DiskFull(_)), "{told}");
    }
}
