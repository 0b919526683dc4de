//! A whole run: make the files, count them once in each way, verify every count, report.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use crate::arguments::Asked;
use crate::errors::Error;
use crate::interrupt::Interrupt;
use crate::report::{Asking, Described, Document, Measurement};
use crate::sample::Sample;
use crate::space::{Case, megabytes};
use crate::variants::{self, THREADS_VARIABLE, Way};
use crate::worker::{Counted, Told};

const PROGRAM: &str = "/proc/self/exe";

/// Measures what is asked for and prints it.
pub(crate) fn run(asked: &Option<Asked>) -> Result<(), Error> {
    let Some(asked) = asked else {
        return Err(Error::Usage(
            "name a folder, a number of files and of lines".to_owned(),
        ));
    };
    let document = measure_all(asked)?;
    println!(
        "{}",
        serde_json::to_string_pretty(&document).map_err(io::Error::from)?
    );
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
        Some(threads) => threads.get(),
        None => thread::available_parallelism()?.get(),
    };
    let ways = match asked.only.is_empty() {
        true => variants::all(),
        false => asked.only.clone(),
    };
    let case = Case {
        files: asked.files,
        lines: asked.lines,
    };

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

    let (mut described, mut measurements) = (Vec::new(), Vec::new());
    for way in ways {
        asked.cache.prepare(&sample.files, &interrupt)?;
        let unavailable = match measure(&way, asked, threads, &interrupt)? {
            Told::Unavailable { reason } => Some(reason),
            Told::Counted(counted) => {
                verify(&way, &counted, asked.lines)?;
                measurements.push(Measurement {
                    name: way.name(),
                    buffer_bytes: (!way.variant.baseline).then_some(asked.buffer_size),
                    cache: asked.cache,
                    cache_achieved: asked.cache.achieved(counted.disk_read_bytes, sample.bytes),
                    counted,
                });
                None
            }
        };
        described.push(Described {
            unavailable,
            ..Described::of(&way)
        });
    }
    Ok(Document {
        schema_version: 2,
        asked: Asking {
            files: asked.files,
            lines: asked.lines,
            bytes: sample.bytes,
            threads,
        },
        made_s,
        took_s: began.elapsed().as_secs_f64(),
        ways: described,
        measurements,
    })
}

/// Starts this program again for one measurement.
fn measure(way: &Way, asked: &Asked, threads: usize, interrupt: &Interrupt) -> Result<Told, Error> {
    let mut command = Command::new(PROGRAM);
    command
        .arg("__measure")
        .arg(&asked.folder)
        .arg(way.name())
        .arg(asked.buffer_size.to_string())
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
            name: way.name(),
            said,
        });
    }
    let told = serde_json::from_slice(&output.stdout).map_err(io::Error::from)?;
    Ok(told)
}

/// Error::WrongCount where not every line was counted, or more.
fn verify(way: &Way, counted: &Counted, lines: u64) -> Result<(), Error> {
    match counted.lines == lines {
        true => Ok(()),
        false => Err(Error::WrongCount {
            name: way.name(),
            counted: counted.lines,
            lines,
        }),
    }
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
        let way = variants::find("test04").unwrap();
        assert!(verify(&way, &counted(10), 10).is_ok());
        for wrong in [9, 11, 0] {
            let told = verify(&way, &counted(wrong), 10).unwrap_err();
            assert!(
                told.to_string()
                    .contains(&format!("test04 counted {wrong} lines")),
                "{told}"
            );
        }
    }
}
