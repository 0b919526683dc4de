//! The ways of counting: one table, one function each. Async readers with the same text differ in their types: what is
//! measured is how each library reads.

mod async_std;
mod blocking;
mod io_uring;
mod smol;
mod tight;
mod tokio;

use std::io;
use std::path::PathBuf;

pub(crate) use self::async_std::THREADS_VARIABLE;

/// What a variant is given.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) files: Vec<PathBuf>,
    /// Of each open file.
    pub(crate) buffer_bytes: usize,
    /// Of the runtime or pool, where the variant has more than one by its nature.
    pub(crate) threads: usize,
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

/// One way.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Its crate, in Cargo.lock; None: the standard library.
    pub(crate) library: Option<&'static str>,
    pub(crate) counting: Counting,
    /// A measure for the others, which has its own buffer.
    pub(crate) baseline: bool,
    pub(crate) run: fn(&Work) -> Result<u64, Stop>,
}

const fn way(
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
        run,
    }
}

use Counting::{Many, One};

/// The ten that were published under their names, the newer ones, and the two measures.
#[rustfmt::skip] // a table
pub(crate) static ALL: [Variant; 17] = [
    way("test00", "tokio, task per file", Some("tokio"), Many, tokio::tasks),
    way("test01", "tokio, task per file, Arc<Mutex>", Some("tokio"), Many, tokio::tasks_with_mutex),
    way("test02", "tokio, LocalSet", Some("tokio"), One, tokio::local),
    way("test03", "tokio, LocalSet, Rc<RefCell>", Some("tokio"), One, tokio::local_with_cell),
    way("test04", "sync, one thread", None, One, blocking::one_thread),
    way("test05", "sync, thread per file", None, Many, blocking::thread_per_file),
    way("test06", "sync, thread pool", Some("threadpool"), Many, blocking::thread_pool),
    way("test07", "sync, rayon", Some("rayon"), Many, blocking::rayon),
    way("test08", "async-std, one task", Some("async-std"), One, async_std::one_task),
    way("test09", "async-std, task per file", Some("async-std"), Many, async_std::tasks),
    way("test10", "smol, one task", Some("smol"), One, smol::one_task),
    way("test11", "smol, task per file", Some("smol"), Many, smol::tasks),
    way("test12", "io_uring, one thread", Some("compio"), One, io_uring::one_thread),
    way("test13", "io_uring, thread per CPU", Some("compio"), Many, io_uring::thread_per_cpu),
    way("test14", "tokio, task per file, in place", Some("tokio"), Many, tokio::tasks_in_place),
    Variant { baseline: true, ..way("loop-one", "tight loop, one thread", None, One, tight::one) },
    Variant { baseline: true, ..way("loop-all", "tight loop, all threads", None, Many, tight::all) },
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

/// By name, for the command line.
pub(crate) fn find(name: &str) -> Result<&'static Variant, String> {
    ALL.iter()
        .find(|variant| variant.name == name)
        .ok_or_else(|| {
            let names: Vec<_> = ALL.iter().map(|variant| variant.name).collect();
            format!("there are {}", names.join(", "))
        })
}

/// What stands below the options.
pub(crate) fn help() -> String {
    let lines: Vec<_> = ALL
        .iter()
        .map(|variant| format!("  {:<9} {}", variant.name, variant.title))
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
            buffer_bytes: 64,
            threads: 2,
        }
    }

    #[test]
    fn all_count_the_same_and_not_the_lines_without_a_comma() {
        let folder = tempfile::tempdir().unwrap();
        let work = work(&folder);
        for variant in &ALL {
            match (variant.run)(&work) {
                Ok(counted) => assert_eq!(counted, 4, "{}", variant.name),
                Err(Stop::Unavailable(reason)) => {
                    assert_eq!(
                        variant.library,
                        Some("compio"),
                        "{}: {reason}",
                        variant.name
                    );
                }
                Err(Stop::Io(error)) => panic!("{}: {error}", variant.name),
            }
        }
    }

    #[test]
    fn a_file_that_is_gone_is_an_error_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut work = work(&folder);
        work.files.push(folder.path().join("gone.csv"));
        for variant in &ALL {
            match (variant.run)(&work) {
                Err(Stop::Io(error)) => {
                    assert!(
                        error.to_string().contains("gone.csv"),
                        "{}: {error}",
                        variant.name
                    );
                }
                Err(Stop::Unavailable(_)) if variant.library == Some("compio") => {}
                other => panic!("{}: {other:?}", variant.name),
            }
        }
    }

    #[test]
    fn names_are_unique_and_each_measure_exists() {
        for variant in &ALL {
            assert!(std::ptr::eq(find(variant.name).unwrap(), variant));
        }
        assert_eq!(measure(One).name, "loop-one");
        assert_eq!(measure(Many).name, "loop-all");
        assert!(find("test99").unwrap_err().contains("test04"));
    }
}
