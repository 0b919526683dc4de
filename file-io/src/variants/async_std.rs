//! async-std, on its last release: discontinued in 2025, and here for the sake of the published rows.

use std::io;
use std::path::{Path, PathBuf};

use async_std::fs::File;
use async_std::io::BufReader;
use async_std::io::prelude::BufReadExt;
use async_std::task;

use super::blocking::named;
use super::{Reading, Stop, Work, in_place, sum_in_turn};

/// How many threads its runtime has, which is started by its first task.
pub(crate) const THREADS_VARIABLE: &str = "ASYNC_STD_THREAD_COUNT";

async fn count(path: PathBuf, reading: Reading) -> io::Result<u64> {
    read(&path, reading)
        .await
        .map_err(|error| named(&path, &error))
}

async fn read(path: &Path, reading: Reading) -> io::Result<u64> {
    let file = File::open(path).await?;
    let mut reader = BufReader::with_capacity(reading.buffer_bytes, file);
    if reading.in_place {
        in_place(reader).await
    } else {
        count_lines!(reader)
    }
}

pub(super) fn one_task(work: &Work) -> Result<u64, Stop> {
    let files = work.files.iter().cloned();
    let counts = files.map(|path| count(path, work.reading));
    Ok(task::block_on(sum_in_turn(counts))?)
}

pub(super) fn tasks(work: &Work) -> Result<u64, Stop> {
    let counted = task::block_on(async {
        let files = work.files.iter().cloned();
        let tasks: Vec<_> = files
            .map(|path| task::spawn(count(path, work.reading)))
            .collect();
        sum_in_turn(tasks).await
    });
    Ok(counted?)
}
