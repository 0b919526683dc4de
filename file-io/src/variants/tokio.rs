//! tokio: every block is read by a thread of its blocking pool; `LocalSet` counts on one thread.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinSet, LocalSet};

use super::blocking::named;
use super::{Stop, Work};
use crate::lines::{LINE_BYTES, Lines, has_fields};

async fn count(path: PathBuf, buffer_bytes: usize) -> io::Result<u64> {
    read(&path, buffer_bytes)
        .await
        .map_err(|error| named(&path, &error))
}

async fn open(path: &Path, buffer_bytes: usize) -> io::Result<BufReader<File>> {
    let mut file = File::open(path).await?;
    // Its own buffer, from which ours is filled: 2 MiB at the most by default.
    file.set_max_buf_size(buffer_bytes);
    Ok(BufReader::with_capacity(buffer_bytes, file))
}

async fn read(path: &Path, buffer_bytes: usize) -> io::Result<u64> {
    let mut reader = open(path, buffer_bytes).await?;
    let mut line = Vec::with_capacity(LINE_BYTES);
    let mut count = 0;
    while reader.read_until(b'\n', &mut line).await? > 0 {
        count += u64::from(has_fields(&line));
        line.clear();
    }
    Ok(count)
}

/// The same without a future and a copy for each line: the lines are counted where they lie.
async fn count_in_place(path: PathBuf, buffer_bytes: usize) -> io::Result<u64> {
    read_in_place(&path, buffer_bytes)
        .await
        .map_err(|error| named(&path, &error))
}

async fn read_in_place(path: &Path, buffer_bytes: usize) -> io::Result<u64> {
    let mut reader = open(path, buffer_bytes).await?;
    let mut lines = Lines::default();
    loop {
        let block = reader.fill_buf().await?;
        if block.is_empty() {
            return Ok(lines.finish());
        }
        lines.add(block);
        let used = block.len();
        reader.consume(used);
    }
}

fn many_threads(work: &Work) -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(work.threads)
        .build()
}

/// The sum of what tasks return.
async fn sum(mut tasks: JoinSet<io::Result<u64>>) -> io::Result<u64> {
    let mut sum = 0;
    while let Some(done) = tasks.join_next().await {
        sum += done??;
    }
    Ok(sum)
}

/// Waits for tasks that keep their sum themselves.
async fn all(mut tasks: JoinSet<io::Result<()>>) -> io::Result<()> {
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

pub(super) fn tasks(work: &Work) -> Result<u64, Stop> {
    let counted = many_threads(work)?.block_on(async {
        let mut tasks = JoinSet::new();
        for path in work.files.iter().cloned() {
            tasks.spawn(count(path, work.buffer_bytes));
        }
        sum(tasks).await
    });
    Ok(counted?)
}

pub(super) fn tasks_in_place(work: &Work) -> Result<u64, Stop> {
    let counted = many_threads(work)?.block_on(async {
        let mut tasks = JoinSet::new();
        for path in work.files.iter().cloned() {
            tasks.spawn(count_in_place(path, work.buffer_bytes));
        }
        sum(tasks).await
    });
    Ok(counted?)
}

/// The mutex is taken once for each file, as in the published program.
pub(super) fn tasks_with_mutex(work: &Work) -> Result<u64, Stop> {
    let total = Arc::new(Mutex::new(0));
    many_threads(work)?.block_on(async {
        let mut tasks = JoinSet::new();
        for path in work.files.iter().cloned() {
            let (total, buffer_bytes) = (Arc::clone(&total), work.buffer_bytes);
            tasks.spawn(async move {
                let counted = count(path, buffer_bytes).await?;
                *total.lock().unwrap_or_else(PoisonError::into_inner) += counted;
                Ok(())
            });
        }
        all(tasks).await
    })?;
    let total = *total.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(total)
}

pub(super) fn local(work: &Work) -> Result<u64, Stop> {
    let runtime = Builder::new_current_thread().build()?;
    let counted = LocalSet::new().block_on(&runtime, async {
        let mut tasks = JoinSet::new();
        for path in work.files.iter().cloned() {
            tasks.spawn_local(count(path, work.buffer_bytes));
        }
        sum(tasks).await
    });
    Ok(counted?)
}

pub(super) fn local_with_cell(work: &Work) -> Result<u64, Stop> {
    let runtime = Builder::new_current_thread().build()?;
    let total = Rc::new(RefCell::new(0));
    LocalSet::new().block_on(&runtime, async {
        let mut tasks = JoinSet::new();
        for path in work.files.iter().cloned() {
            let (total, buffer_bytes) = (Rc::clone(&total), work.buffer_bytes);
            tasks.spawn_local(async move {
                let counted = count(path, buffer_bytes).await?;
                *total.borrow_mut() += counted;
                Ok(())
            });
        }
        all(tasks).await
    })?;
    Ok(total.take())
}
