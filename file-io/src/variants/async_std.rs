//! async-std, on its last release: discontinued in 2025, and here for the sake of the published rows.

use std::io;
use std::path::{Path, PathBuf};

use async_std::fs::File;
use async_std::io::BufReader;
use async_std::io::prelude::BufReadExt;
use async_std::task;

use super::blocking::named;
use super::{Stop, Work, sum_in_turn};
use crate::lines::{LINE_BYTES, has_fields};

/// How many threads its runtime has, which is started by its first task.
pub(crate) const THREADS_VARIABLE: &str = "ASYNC_STD_THREAD_COUNT";

async fn count(path: PathBuf, buffer_bytes: usize) -> io::Result<u64> {
    read(&path, buffer_bytes)
        .await
        .map_err(|error| named(&path, &error))
}

async fn read(path: &Path, buffer_bytes: usize) -> io::Result<u64> {
    let file = File::open(path).await?;
    let mut reader = BufReader::with_capacity(buffer_bytes, file);
    let mut line = Vec::with_capacity(LINE_BYTES);
    let mut count = 0;
    while reader.read_until(b'\n', &mut line).await? > 0 {
        count += u64::from(has_fields(&line));
        line.clear();
    }
    Ok(count)
}

pub(super) fn one_task(work: &Work) -> Result<u64, Stop> {
    let files = work.files.iter().cloned();
    let counts = files.map(|path| count(path, work.buffer_bytes));
    Ok(task::block_on(sum_in_turn(counts))?)
}

pub(super) fn tasks(work: &Work) -> Result<u64, Stop> {
    let counted = task::block_on(async {
        let files = work.files.iter().cloned();
        let tasks: Vec<_> = files
            .map(|path| task::spawn(count(path, work.buffer_bytes)))
            .collect();
        sum_in_turn(tasks).await
    });
    Ok(counted?)
}
