//! The ways of counting: one table, one function each. Async readers with the same text differ in their types: what is
//! measured is how each library reads.

/// Counts what an async reader has, each line copied out of its buffer.
macro_rules! count_lines {
    ($reader:ident) => {{
        let mut line = Vec::with_capacity($crate::lines::LINE_BYTES);
        let mut count = 0;
        while $reader.read_until(b'\n', &mut line).await? > 0 {
            count += u64::from($crate::lines::has_fields(&line));
            line.clear();
        }
        Ok(count)
    }};
}
/// The same without a future and a copy for each line: the lines are counted where they lie.
macro_rules! count_in_place {
    ($reader:ident) => {{
        let mut lines = $crate::lines::Lines::default();
        loop {
            let block = $reader.fill_buf().await?;
            if block.is_empty() {
                break Ok(lines.finish());
            }
            lines.add(block);
            let used = block.len();
            $reader.consume(used);
        }
    }};
}

mod async_std;
mod blocking;
mod io_uring;
mod smol;
mod tight;
mod tokio;

use std::future::poll_fn;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Poll, ready};

use ::smol::io::AsyncBufRead;

use crate::lines::Lines;

pub(crate) use self::async_std::THREADS_VARIABLE;

/// What a variant is given.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) reading: Reading,
    /// Of the runtime or pool, where the variant has more than one by its nature.
    pub(crate) threads: usize,
}

/// How each file is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) buffer_bytes: usize,
    /// Whether lines are counted where they lie in the buffer; false: each is copied out of it first.
    pub(crate) in_place: bool,
}

/// Why a variant did not count.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stop {
    /// This machine does not let it; no failure.
    #[error("{0}")]
    Unavailable(String),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// How many threads count lines, whoever reads the blocks. It decides which tight loop is the measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counting {
    One,
    Many,
}

/// A library and a shape of concurrency.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Its crate, in Cargo.lock; None: the standard library.
    pub(crate) library: Option<&'static str>,
    pub(crate) counting: Counting,
    /// A measure for the others, which has its own buffer.
    pub(crate) baseline: bool,
    /// Whether it can copy each line, and not only count in place.
    copies: bool,
    pub(crate) run: fn(&Work) -> Result<u64, Stop>,
}

const fn variant(
    name: &'static str,
    title: &'static str,
    library: Option<&'static str>,
    counting: Counting,
    run: fn(&Work) -> Result<u64, Stop>,
) -> Variant {
    Variant {
        name,
        title,
        library,
        counting,
        baseline: false,
        copies: true,
        run,
    }
}

use Counting::{Many, One};

/// The ten that were published under their names, the newer ones, and the two measures.
#[rustfmt::skip] // a table
pub(crate) static ALL: [Variant; 16] = [
    variant("test00", "tokio, task per file", Some("tokio"), Many, tokio::tasks),
    variant("test01", "tokio, task per file, Arc<Mutex>", Some("tokio"), Many, tokio::tasks_with_mutex),
    variant("test02", "tokio, LocalSet", Some("tokio"), One, tokio::local),
    variant("test03", "tokio, LocalSet, Rc<RefCell>", Some("tokio"), One, tokio::local_with_cell),
    variant("test04", "sync, one thread", None, One, blocking::one_thread),
    variant("test05", "sync, thread per file", None, Many, blocking::thread_per_file),
    variant("test06", "sync, thread pool", Some("threadpool"), Many, blocking::thread_pool),
    variant("test07", "sync, rayon", Some("rayon"), Many, blocking::rayon),
    variant("test08", "async-std, one task", Some("async-std"), One, async_std::one_task),
    variant("test09", "async-std, task per file", Some("async-std"), Many, async_std::tasks),
    variant("test10", "smol, one task", Some("smol"), One, smol::one_task),
    variant("test11", "smol, task per file", Some("smol"), Many, smol::tasks),
    Variant { copies: false, ..variant("test12", "io_uring, one thread", Some("compio"), One, io_uring::one_thread) },
    Variant { copies: false, ..variant("test13", "io_uring, thread per CPU", Some("compio"), Many, io_uring::thread_per_cpu) },
    Variant { baseline: true, copies: false, ..variant("loop-one", "tight loop, one thread", None, One, tight::one) },
    Variant { baseline: true, copies: false, ..variant("loop-all", "tight loop, all threads", None, Many, tight::all) },
];

/// The measure of a variant: the tight loop on as many threads.
pub(crate) fn measure(counting: Counting) -> &'static Variant {
    let found = ALL
        .iter()
        .find(|variant| variant.baseline && variant.counting == counting);
    found.unwrap_or(&ALL[0])
}

/// The sum of counts, each awaited after the one before it: tasks run meanwhile, plain futures in turn.
async fn sum_in_turn(
    counts: impl IntoIterator<Item = impl Future<Output = io::Result<u64>>>,
) -> io::Result<u64> {
    let mut sum = 0;
    for count in counts {
        sum += count.await?;
    }
    Ok(sum)
}

const IN_PLACE: &str = "-in-place";

/// A variant, and how it counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    pub(crate) variant: &'static Variant,
    pub(crate) in_place: bool,
}

impl Way {
    fn of(variant: &'static Variant) -> Self {
        Self {
            variant,
            in_place: !variant.copies,
        }
    }

    /// As `--only` takes it.
    pub(crate) fn name(&self) -> String {
        let further = self.in_place && self.variant.copies;
        format!(
            "{}{}",
            self.variant.name,
            if further { IN_PLACE } else { "" }
        )
    }

    pub(crate) fn title(&self) -> String {
        let further = self.in_place && self.variant.copies;
        format!(
            "{}{}",
            self.variant.title,
            if further { ", in place" } else { "" }
        )
    }
}

/// Every variant, then those that copy lines once more, in place.
pub(crate) fn all() -> Vec<Way> {
    let further = ALL.iter().filter(|variant| variant.copies);
    let in_place = further.map(|variant| Way {
        variant,
        in_place: true,
    });
    ALL.iter().map(Way::of).chain(in_place).collect()
}

/// Counts where the lines lie in the buffer of a reader of futures-io, which those of async-std and smol are. (The
/// future `fill_buf` of futures-lite asks twice for a block, and panics at an end that is not there at once.)
async fn in_place(mut reader: impl AsyncBufRead + Unpin) -> io::Result<u64> {
    let mut lines = Lines::default();
    loop {
        let used = poll_fn(|context| {
            let block = ready!(Pin::new(&mut reader).poll_fill_buf(context))?;
            lines.add(block);
            Poll::Ready(io::Result::Ok(block.len()))
        });
        match used.await? {
            0 => return Ok(lines.finish()),
            used => Pin::new(&mut reader).consume(used),
        }
    }
}

/// By name, for the command line.
pub(crate) fn find(name: &str) -> Result<Way, String> {
    let ways = all();
    let found = ways.iter().find(|way| way.name() == name).copied();
    found.ok_or_else(|| {
        let names: Vec<_> = ways.iter().map(Way::name).collect();
        format!("there are {}", names.join(", "))
    })
}

/// What stands below the options.
pub(crate) fn help() -> String {
    let lines: Vec<_> = all()
        .iter()
        .map(|way| format!("  {:<16} {}", way.name(), way.title()))
        .collect();
    format!(
        "Ways:\n{}\n\nExit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted",
        lines.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Three files: lines that count, lines that do not, and one that is longer than the buffer.
    fn work(folder: &tempfile::TempDir) -> Work {
        let texts = [
            "0,0,1\n0,1,2\n",
            "1,0,3\nno comma\n\n",
            &format!("{}\n2,0,4", "x".repeat(300)),
        ];
        let files = texts.iter().enumerate().map(|(index, text)| {
            let path = folder.path().join(format!("test{index}.csv"));
            fs::write(&path, text).unwrap();
            path
        });
        Work {
            files: files.collect(),
            reading: Reading {
                buffer_bytes: 64,
                in_place: false,
            },
            threads: 2,
        }
    }

    fn counted(way: &Way, work: &Work) -> Result<u64, Stop> {
        let in_place = way.in_place;
        (way.variant.run)(&Work {
            reading: Reading {
                in_place,
                ..work.reading
            },
            ..work.clone()
        })
    }

    #[test]
    fn all_count_the_same_and_not_the_lines_without_a_comma() {
        let folder = tempfile::tempdir().unwrap();
        let work = work(&folder);
        for way in all() {
            let name = way.name();
            match counted(&way, &work) {
                Ok(lines) => assert_eq!(lines, 4, "{name}"),
                Err(Stop::Unavailable(reason)) => {
                    assert_eq!(way.variant.library, Some("compio"), "{name}: {reason}");
                }
                Err(Stop::Io(error)) => panic!("{name}: {error}"),
            }
        }
    }

    #[test]
    fn a_file_that_is_gone_is_an_error_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut work = work(&folder);
        work.files.push(folder.path().join("gone.csv"));
        for way in all() {
            let name = way.name();
            match counted(&way, &work) {
                Err(Stop::Io(error)) => {
                    assert!(error.to_string().contains("gone.csv"), "{name}: {error}");
                }
                Err(Stop::Unavailable(_)) if way.variant.library == Some("compio") => {}
                other => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn names_are_unique_and_each_measure_exists() {
        let names: Vec<_> = all().iter().map(Way::name).collect();
        assert_eq!(names.len(), 16 + 12);
        for way in all() {
            let found = find(&way.name()).unwrap();
            assert!(std::ptr::eq(found.variant, way.variant) && found.in_place == way.in_place);
        }
        assert_eq!(measure(One).name, "loop-one");
        assert_eq!(measure(Many).name, "loop-all");
        assert!(find("test99").unwrap_err().contains("test04"));
        assert!(find("test12-in-place").is_err());
    }
}
