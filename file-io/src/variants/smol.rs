//! smol: a thread of its blocking pool reads ahead of each file, up to 8 MiB, whatever our buffer is.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use smol::fs::File;
use smol::io::{AsyncBufReadExt, BufReader};
use smol::{Executor, channel, future};

use super::blocking::named;
use super::{Reading, Stop, Work, in_place, sum_in_turn};

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
    Ok(future::block_on(sum_in_turn(counts))?)
}

/// An executor of our own, as smol advises: its global one has a single thread.
pub(super) fn tasks(work: &Work) -> Result<u64, Stop> {
    let executor = Executor::new();
    let (done, until_done) = channel::bounded::<()>(1);
    let counted = thread::scope(|scope| {
        for _ in 0..work.threads {
            scope.spawn(|| future::block_on(executor.run(until_done.recv())));
        }
        let files = work.files.iter().cloned();
        let tasks: Vec<_> = files
            .map(|path| executor.spawn(count(path, work.reading)))
            .collect();
        let counted = future::block_on(sum_in_turn(tasks));
        drop(done);
        counted
    });
    Ok(counted?)
}
