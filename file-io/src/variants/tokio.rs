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
use super::{Reading, Stop, Work};

async fn count(path: PathBuf, reading: Reading) -> io::Result<u64> {
    read(&path, reading)
        .await
        .map_err(|error| named(&path, &error))
}

async fn read(path: &Path, reading: Reading) -> io::Result<u64> {
    let mut file = File::open(path).await?;
    // Its own buffer, from which ours is filled: 2 MiB at the most by default.
    file.set_max_buf_size(reading.buffer_bytes);
    let mut reader = BufReader::with_capacity(reading.buffer_bytes, file);
    if reading.in_place {
        count_in_place!(reader)
    } else {
        count_lines!(reader)
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
            tasks.spawn(count(path, work.reading));
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
            let (total, reading) = (Arc::clone(&total), work.reading);
            tasks.spawn(async move {
                let counted = count(path, reading).await?;
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
            tasks.spawn_local(count(path, work.reading));
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
            let (total, reading) = (Rc::clone(&total), work.reading);
            tasks.spawn_local(async move {
                let counted = count(path, reading).await?;
                *total.borrow_mut() += counted;
                Ok(())
            });
        }
        all(tasks).await
    })?;
    Ok(total.take())
}
