//! How large a case becomes, and whether it fits. Known before the first byte is written.

use std::path::Path;

use nix::sys::statvfs::statvfs;

use crate::errors::Error;

/// Digits of the time in nanoseconds, until the year 2286.
const NANOS_DIGITS: u64 = 19;
/// A file system needs a little for itself: one part in so many on top.
const SPARE: u64 = 20;

/// The files of a case and the rows of each: the first ones take what does not divide.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) files: u32,
    pub(crate) lines: u64,
}

impl Case {
    pub(crate) fn rows(self, file: u32) -> u64 {
        let files = u64::from(self.files);
        self.lines / files + u64::from(u64::from(file) < self.lines % files)
    }

    /// The size of all files together, exactly.
    pub(crate) fn bytes(self) -> u64 {
        (0..self.files)
            .map(|file| {
                let rows = self.rows(file);
                let fixed = digits(u64::from(file)) + NANOS_DIGITS + ",,\n".len() as u64;
                rows * fixed + digits_below(rows)
            })
            .sum()
    }

    fn needs(self) -> u64 {
        let bytes = self.bytes();
        bytes + bytes / SPARE
    }

    /// The most lines for which so many files need at most `free` bytes.
    fn fit(self, free: u64) -> u64 {
        let (mut fits, mut too_many) = (0, self.lines.saturating_add(1));
        while too_many - fits > 1 {
            let lines = fits + (too_many - fits) / 2;
            if (Self { lines, ..self }).needs() <= free {
                fits = lines;
            } else {
                too_many = lines;
            }
        }
        fits
    }

    /// Error::TooLarge where `free` bytes are too few. folder: for the message.
    pub(crate) fn fits(self, folder: &Path, free: u64) -> Result<(), Error> {
        if self.needs() <= free {
            return Ok(());
        }
        Err(Error::TooLarge {
            folder: folder.to_owned(),
            files: self.files,
            lines: self.lines,
            need: megabytes(self.needs()),
            free: megabytes(free),
            fit: self.fit(free),
        })
    }
}

/// What the file system of an existing folder has room for.
pub(crate) fn free(folder: &Path) -> Result<u64, Error> {
    let found = statvfs(folder).map_err(|error| Error::at(folder)(error.into()))?;
    Ok(found.blocks_available() * found.fragment_size())
}

pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn digits(number: u64) -> u64 {
    u64::from(number.checked_ilog10().unwrap_or(0)) + 1
}

/// The digits of 0, 1 … end - 1, all together.
fn digits_below(end: u64) -> u64 {
    let further = |power: &u64| end.saturating_sub(*power);
    end + (1..20)
        .map(|exponent| 10_u64.pow(exponent))
        .map(|power| further(&power))
        .sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_counted() {
        for end in [0, 1, 9, 10, 11, 100, 101, 12_345] {
            assert_eq!(
                digits_below(end),
                (0..end).map(digits).sum::<u64>(),
                "{end}"
            );
        }
    }

    #[test]
    fn no_line_is_lost_where_lines_do_not_divide() {
        let case = Case {
            files: 3,
            lines: 11,
        };
        assert_eq!([case.rows(0), case.rows(1), case.rows(2)], [4, 4, 3]);
    }

    #[test]
    fn what_fits_is_told_to_the_line() {
        let case = Case {
            files: 5,
            lines: 1_000_000,
        };
        assert!(case.fits(Path::new("x"), case.needs()).is_ok());
        let told = case.fits(Path::new("x"), case.needs() - 1).unwrap_err();
        assert!(
            told.to_string().ends_with("at most 999999 lines fit"),
            "{told}"
        );
        assert_eq!(case.fit(0), 0);
        let half = case.fit(case.needs() / 2);
        assert!(
            (Case {
                lines: half,
                ..case
            })
            .needs()
                <= case.needs() / 2
        );
        assert!(
            (Case {
                lines: half + 1,
                ..case
            })
            .needs()
                > case.needs() / 2
        );
    }
}
