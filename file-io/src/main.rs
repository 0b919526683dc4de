//! Makes CSV files, has their lines counted once in each way that `--help` names, and prints how long each took.
//!
//! Every measurement is a process of its own (`worker`), so that no runtime meets the threads or the memory of
//! another; every count is verified; the folder is removed in the end, whatever happens. How often and in which
//! order is for whoever calls this.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod arguments;
mod cache;
mod errors;
mod interrupt;
mod lines;
mod report;
mod sample;
mod session;
mod space;
mod variants;
mod versions;
mod worker;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Hidden};
use crate::errors::Error;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.hidden {
        Some(Hidden::Measure(ref request)) => worker::run(request),
        None => session::run(&arguments.asked),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("asynctest: {error}");
            match error {
                Error::Interrupted(signal) => ExitCode::from(128 + signal),
                Error::Usage(_) => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}
