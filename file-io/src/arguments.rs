//! The command line, and nothing else.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::cache::State;
use crate::variants::{self, Way};

/// Counts the lines of CSV files, blocking and async, once in each way, and prints one JSON document.
///
/// Makes FILES files with LINES lines in all in FOLDER, which must not exist and is removed in the end. A line is
/// `file,row,nanoseconds`; counted are the lines that split on commas into more than one field. Each measurement
/// is a process of its own, and every count is verified.
#[derive(Debug, Parser)]
#[command(
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
#[command(after_help = variants::help())]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) asked: Option<Asked>,
    #[command(subcommand)]
    pub(crate) hidden: Option<Hidden>,
}

/// What a person asks for.
#[derive(Debug, Clone, Args)]
pub(crate) struct Asked {
    /// Where the files go; made, and removed in the end
    pub(crate) folder: PathBuf,
    /// How many files
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) files: u32,
    /// How many lines in all files together
    #[arg(value_parser = clap::value_parser!(u64).range(1..=100_000_000_000))]
    pub(crate) lines: u64,
    /// Size of each file's buffer, in bytes; 8192 is what every library takes by itself
    #[arg(long, value_name = "BYTES", default_value_t = 8192, value_parser = buffer_size)]
    pub(crate) buffer_size: usize,
    /// Whether the files are in the page cache before each measurement
    #[arg(long, default_value = "hot")]
    pub(crate) cache: State,
    /// Only these ways, in this order [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = variants::find)]
    pub(crate) only: Vec<Way>,
    /// Threads of every runtime and pool [default: one for each CPU]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Hidden {
    /// Measures once, for the program itself
    #[command(name = "__measure", hide = true)]
    Measure(Request),
}

/// One measurement, as the child process is told about it.
#[derive(Debug, Clone, Args)]
pub(crate) struct Request {
    pub(crate) folder: PathBuf,
    #[arg(value_parser = variants::find)]
    pub(crate) way: Way,
    pub(crate) buffer_bytes: usize,
    pub(crate) threads: usize,
}

fn buffer_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bytes) if (64..=1 << 30).contains(&bytes) => Ok(bytes),
        _ => Err("a buffer has 64 bytes to 1 GiB, for example 8192 or 1048576".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::try_parse_from(line.split_whitespace()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_published_command_line() {
        let asked = parse("asynctest ./sample 10 2000000")
            .unwrap()
            .asked
            .unwrap();
        assert_eq!((asked.files, asked.lines), (10, 2_000_000));
        assert_eq!((asked.buffer_size, asked.cache), (8192, State::Hot));
    }

    #[test]
    fn ways_are_separated_by_commas() {
        let line = "asynctest sample 1 1 --only test07,test04-in-place";
        let asked = parse(line).unwrap().asked.unwrap();
        let names: Vec<_> = asked.only.iter().map(Way::name).collect();
        assert_eq!(names, ["test07", "test04-in-place"]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (line, word) in [
            ("asynctest sample 1", "<LINES>"),
            ("asynctest sample 0 5", "0 is not in 1..=1000"),
            ("asynctest sample 1 0", "0 is not in 1.."),
            ("asynctest sample 1 1 --only test99", "test99"),
            ("asynctest sample 1 1 --buffer-size 0", "64 bytes"),
            ("asynctest sample 1 1 --threads 0", "--threads"),
            ("asynctest", "<FOLDER>"),
        ] {
            let said = parse(line).unwrap_err();
            assert!(said.contains(word), "{line}: {said}");
        }
    }
}
