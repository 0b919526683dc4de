//! With the standard library's blocking files: one thread, many, a pool, rayon.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use rayon::prelude::*;
use threadpool::ThreadPool;

use super::{Reading, Stop, Work};
use crate::lines;

fn count(path: &Path, reading: Reading) -> io::Result<u64> {
    let counted = File::open(path).and_then(|file| {
        let reader = BufReader::with_capacity(reading.buffer_bytes, file);
        match reading.in_place {
            true => lines::count_in_place(reader),
            false => lines::count(reader),
        }
    });
    counted.map_err(|error| named(path, &error))
}

/// The error with the file that it is about.
pub(super) fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

pub(super) fn one_thread(work: &Work) -> Result<u64, Stop> {
    let counts = work.files.iter().map(|path| count(path, work.reading));
    Ok(counts.sum::<io::Result<u64>>()?)
}

pub(super) fn thread_per_file(work: &Work) -> Result<u64, Stop> {
    thread::scope(|scope| {
        let running: Vec<_> = work
            .files
            .iter()
            .map(|path| scope.spawn(|| count(path, work.reading)))
            .collect();
        running
            .into_iter()
            .try_fold(0, |sum, thread| Ok(sum + joined(thread.join())?))
    })
}

/// The result of a thread; its panic goes on here.
pub(super) fn joined<T>(result: thread::Result<T>) -> T {
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

pub(super) fn thread_pool(work: &Work) -> Result<u64, Stop> {
    let pool = ThreadPool::new(work.threads);
    let (counted, counts) = mpsc::channel();
    for path in &work.files {
        let (path, counted, reading) = (path.clone(), counted.clone(), work.reading);
        pool.execute(move || {
            // Nobody listens any more once a file has failed.
            let _ = counted.send(count(&path, reading));
        });
    }
    drop(counted);
    Ok(counts.iter().sum::<io::Result<u64>>()?)
}

pub(super) fn rayon(work: &Work) -> Result<u64, Stop> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(work.threads)
        .build()
        .map_err(io::Error::other)?;
    let counted = pool.install(|| {
        work.files
            .par_iter()
            .map(|path| count(path, work.reading))
            .sum::<io::Result<u64>>()
    });
    Ok(counted?)
}
