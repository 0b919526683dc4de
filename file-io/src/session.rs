//! A whole run: make the files, measure block by block, verify every count, report.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::arguments::Asked;
use crate::errors::Error;
use crate::interrupt::Interrupt;
use crate::report::{Asking, Document, Measurement, Way};
use crate::sample::Sample;
use crate::schedule::{self, Cell};
use crate::space::{Case, megabytes};
use crate::variants::{ALL, THREADS_VARIABLE, Variant};
use crate::worker::{Counted, Told};
use crate::{table, versions};

/// For the tight loop, which has its own block, and for the child's arguments.
const UNUSED_BUFFER_BYTES: usize = 8192;
const PROGRAM: &str = "/proc/self/exe";

/// Measures what is asked for and prints it.
pub(crate) fn run(asked: &Option<Asked>) -> Result<(), Error> {
    let Some(asked) = asked else {
        return Err(Error::Usage(
            "name a folder, a number of files and of lines".to_owned(),
        ));
    };
    let document = measure_all(asked)?;
    let text = match asked.json {
        true => serde_json::to_string_pretty(&document).map_err(io::Error::from)?,
        false => table::render(&document),
    };
    println!("{text}");
    Ok(())
}

fn measure_all(asked: &Asked) -> Result<Document, Error> {
    if asked.lines < u64::from(asked.files) {
        return Err(Error::Usage(format!(
            "{} lines are too few for {} files: every file gets at least one",
            asked.lines, asked.files
        )));
    }
    let interrupt = Interrupt::install()?;
    let threads = match asked.threads {
        Some(threads) => threads,
        None => thread::available_parallelism()?,
    };
    let seed = asked.seed.unwrap_or_else(|| fastrand::u32(..));
    let cells = schedule::cells(asked);
    let case = Case {
        files: asked.files,
        lines: asked.lines,
    };

    let started = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    // All of the program into the page cache: a child would read pieces of it while it is measured.
    fs::read(PROGRAM)?;
    let began = Instant::now();
    let sample = Sample::make(&asked.folder, case, &interrupt)?;
    let made_s = began.elapsed().as_secs_f64();
    eprintln!(
        "made {} files, {} in {made_s:.1} s",
        case.files,
        megabytes(sample.bytes)
    );

    let measured = |way: &&Variant| cells.iter().any(|cell| cell.variant.name == way.name);
    let ways: Vec<Way> = ALL.iter().filter(measured).map(Way::of).collect();
    let mut document = Document {
        schema_version: 1,
        program: format!("asynctest {}", env!("CARGO_PKG_VERSION")),
        started_unix_s: started.as_secs(),
        kernel: kernel(),
        asked: Asking::of(asked, threads.get(), seed, sample.bytes),
        made_s,
        took_s: 0.0,
        ways: versions::with_versions(ways),
        measurements: Vec::new(),
    };
    for (block, order) in (1..).zip(schedule::order(cells.len(), asked.repeats, seed)) {
        let began = Instant::now();
        for place in order {
            let cell = &cells[place];
            if document
                .way(cell.variant.name)
                .is_some_and(|way| way.unavailable.is_some())
            {
                continue;
            }
            cell.cache.prepare(&sample.files, &interrupt)?;
            match measure(cell, &sample.folder, threads.get(), &interrupt)? {
                Told::Unavailable { reason } => document.refuse(cell.variant.name, &reason),
                Told::Counted(counted) => {
                    verify(cell.variant, &counted, asked.lines)?;
                    let measurement = Measurement::of(block, cell, &counted, sample.bytes);
                    document.measurements.push(measurement);
                }
            }
        }
        let spent = began.elapsed().as_secs_f64();
        eprintln!("repeat {block} of {}: {spent:.1} s", asked.repeats);
    }
    document.took_s = began.elapsed().as_secs_f64();
    Ok(document)
}

/// Starts this program again for one measurement.
fn measure(
    cell: &Cell,
    folder: &Path,
    threads: usize,
    interrupt: &Interrupt,
) -> Result<Told, Error> {
    let mut command = Command::new(PROGRAM);
    command
        .arg("__measure")
        .arg(folder)
        .arg(cell.variant.name)
        .arg(cell.buffer_bytes.unwrap_or(UNUSED_BUFFER_BYTES).to_string())
        .arg(threads.to_string())
        .env(THREADS_VARIABLE, threads.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C at a terminal goes to the whole group; only the parent decides here.
        .process_group(0);
    let output = interrupt.run(&mut command)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let said = if said.is_empty() {
            output.status.to_string()
        } else {
            said
        };
        return Err(Error::Worker {
            name: cell.variant.name,
            said,
        });
    }
    let told = serde_json::from_slice(&output.stdout).map_err(io::Error::from)?;
    Ok(told)
}

/// Error::WrongCount where not every line was counted, or more.
fn verify(variant: &Variant, counted: &Counted, lines: u64) -> Result<(), Error> {
    match counted.lines == lines {
        true => Ok(()),
        false => Err(Error::WrongCount {
            name: variant.name,
            counted: counted.lines,
            lines,
        }),
    }
}

fn kernel() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_count_is_caught() {
        let counted = |lines| Counted {
            lines,
            elapsed_ms: 1.0,
            cpu_user_ms: 1.0,
            cpu_system_ms: 0.0,
            peak_memory_bytes: None,
            disk_read_bytes: None,
        };
        assert!(verify(&ALL[4], &counted(10), 10).is_ok());
        for wrong in [9, 11, 0] {
            let told = verify(&ALL[4], &counted(wrong), 10).unwrap_err();
            assert!(
                told.to_string()
                    .contains(&format!("test04 counted {wrong} lines")),
                "{told}"
            );
        }
    }
}
