//! Makes CSV files, has their lines counted in every way that `--help` names, and says how long each took.
//!
//! Every measurement is a process of its own (`worker`), so that no runtime meets the threads or the memory of
//! another; the order is random in complete blocks; every count is verified; the folder is removed in the end,
//! whatever happens.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod arguments;
mod cache;
mod errors;
mod interrupt;
mod lines;
mod report;
mod sample;
mod schedule;
mod session;
mod space;
mod statistics;
mod table;
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
