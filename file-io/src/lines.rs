//! What is counted: the lines that split on commas into more than one field.

use std::io::{self, BufRead};

use memchr::memchr_iter;

/// Room for a line; it grows for a longer one.
pub(crate) const LINE_BYTES: usize = 64;

/// Whether a line splits on commas into more than one field: that is, whether it has one.
#[inline]
pub(crate) fn has_fields(line: &[u8]) -> bool {
    line.contains(&b',')
}

/// Counts line by line where the lines lie, in blocks that break off anywhere.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    count: u64,
    /// Whether the line that the last block broke off had a comma so far.
    open: bool,
}

impl Lines {
    pub(crate) fn add(&mut self, block: &[u8]) {
        let mut start = 0;
        for end in memchr_iter(b'\n', block) {
            self.count += u64::from(self.open || has_fields(&block[start..end]));
            self.open = false;
            start = end + 1;
        }
        self.open |= has_fields(&block[start..]);
    }

    /// How many counted. A last line without an end is one, too.
    pub(crate) fn finish(self) -> u64 {
        self.count + u64::from(self.open)
    }
}

/// Counts what a blocking reader has, each line copied out of its buffer.
pub(crate) fn count(mut reader: impl BufRead) -> io::Result<u64> {
    let mut line = Vec::with_capacity(LINE_BYTES);
    let mut count = 0;
    while reader.read_until(b'\n', &mut line)? > 0 {
        count += u64::from(has_fields(&line));
        line.clear();
    }
    Ok(count)
}

/// The same without a copy: the lines are counted where they lie.
pub(crate) fn count_in_place(mut reader: impl BufRead) -> io::Result<u64> {
    let mut lines = Lines::default();
    loop {
        let block = reader.fill_buf()?;
        if block.is_empty() {
            return Ok(lines.finish());
        }
        lines.add(block);
        let used = block.len();
        reader.consume(used);
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    const TEXTS: [(&str, u64); 9] = [
        ("", 0),
        ("0,1,2\n", 1),
        ("0,1,2\n0,2,3\n", 2),
        ("0,1,2\n0,2,3", 2),
        ("no comma\n", 0),
        ("no comma\n0,1\nneither\n", 1),
        ("\n\n,\n", 1),
        ("no comma", 0),
        (
            "a line that is longer than any of the buffers below, and has no second field\n1,2\n",
            2,
        ),
    ];

    #[test]
    fn lines_with_more_than_one_field_count() {
        for (text, lines) in TEXTS {
            for buffer in [1, 2, 3, 7, 64] {
                let reader = || BufReader::with_capacity(buffer, text.as_bytes());
                for found in [count(reader()), count_in_place(reader())] {
                    assert_eq!(found.unwrap(), lines, "{text:?} in blocks of {buffer}");
                }
            }
        }
    }

    #[test]
    fn blocks_may_break_off_anywhere() {
        for (text, lines) in TEXTS {
            for size in [1, 2, 3, 7, 64] {
                let mut found = Lines::default();
                text.as_bytes()
                    .chunks(size)
                    .for_each(|block| found.add(block));
                assert_eq!(found.finish(), lines, "{text:?} in blocks of {size}");
            }
        }
    }
}
