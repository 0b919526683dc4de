//! The settings of the contract, read from the environment.

use std::error::Error as _;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::{env, process};

use clap::error::{ContextKind, ContextValue};
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser};
use tracing::Level;

use crate::work::Offload;

/// The scenarios without a database, on hyper alone.
#[derive(Debug, Parser)]
pub(crate) struct Config {
    /// TCP port to listen on, on all interfaces
    #[arg(long, env, default_value = "8080", value_parser = port)]
    pub(crate) port: u16,

    /// Least severe message that is logged: debug, info, warn or error
    #[arg(long, env, default_value = "warn", value_parser = log_level)]
    pub(crate) log_level: Level,

    /// Threads of the runtime, 1 being the single-threaded runtime [default: one per CPU]
    #[arg(long, env, value_parser = workers)]
    pub(crate) workers: Option<usize>,

    /// Threads at the most for the work that OFFLOAD moves
    #[arg(long, env, default_value = "32", value_parser = threads)]
    pub(crate) threads: usize,

    /// CPU work that leaves the event loop: none, sum or parse+sum
    #[arg(long, env, default_value = "none", value_parser = offload)]
    pub(crate) offload: Offload,

    /// 1 writes one line per request to standard output
    #[arg(long, env, default_value = "0", value_parser = switch, action = ArgAction::Set)]
    pub(crate) access_log: bool,
}

impl Config {
    /// Ends the process with one line and exit code 2 if a value is bad.
    pub(crate) fn load() -> Self {
        // Compose passes variables that nobody set as empty strings: they mean the default.
        let command = Self::command().mut_args(|arg| match arg.get_env().and_then(env::var_os) {
            Some(value) if value.is_empty() => arg.env(None),
            _ => arg,
        });
        command
            .try_get_matches()
            .and_then(|matches| Self::from_arg_matches(&matches))
            .unwrap_or_else(|error| {
                match describe(&error) {
                    Some(line) => eprintln!("{line}"),
                    None => error.exit(),
                }
                process::exit(2)
            })
    }
}

/// One line for a bad value. It does not repeat the value.
fn describe(error: &clap::Error) -> Option<String> {
    // Given as `--workers <WORKERS>`.
    let ContextValue::String(argument) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    let variable = argument.split(['<', '>']).nth(1)?;
    Some(format!("{variable} must be {}", error.source()?))
}

fn port(text: &str) -> Result<u16, String> {
    number(text, 1..=u16::MAX)
}

fn workers(text: &str) -> Result<usize, String> {
    number(text, 1..=1024)
}

fn threads(text: &str) -> Result<usize, String> {
    number(text, 1..=1024)
}

fn number<T>(text: &str, allowed: RangeInclusive<T>) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display,
{
    match text.parse() {
        Ok(number) if allowed.contains(&number) => Ok(number),
        _ => Err(format!(
            "a number from {} to {}",
            allowed.start(),
            allowed.end()
        )),
    }
}

fn switch(text: &str) -> Result<bool, &'static str> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err("0 or 1"),
    }
}

fn log_level(text: &str) -> Result<Level, &'static str> {
    match text {
        "debug" => Ok(Level::DEBUG),
        "info" => Ok(Level::INFO),
        "warn" => Ok(Level::WARN),
        "error" => Ok(Level::ERROR),
        _ => Err("debug, info, warn or error"),
    }
}

fn offload(text: &str) -> Result<Offload, &'static str> {
    match text {
        "none" => Ok(Offload::None),
        "sum" => Ok(Offload::Sum),
        "parse+sum" => Ok(Offload::ParseAndSum),
        _ => Err("none, sum or parse+sum"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Config, clap::Error> {
        Config::try_parse_from([&["rust-hyper"], arguments].concat())
    }

    #[test]
    fn bad_values_are_one_line_that_names_the_variable() {
        for (argument, line) in [
            ("--port=0", "PORT must be a number from 1 to 65535"),
            ("--workers=many", "WORKERS must be a number from 1 to 1024"),
            ("--threads=0", "THREADS must be a number from 1 to 1024"),
            ("--offload=all", "OFFLOAD must be none, sum or parse+sum"),
            ("--access-log=yes", "ACCESS_LOG must be 0 or 1"),
            (
                "--log-level=loud",
                "LOG_LEVEL must be debug, info, warn or error",
            ),
        ] {
            let error = parse(&[argument]).unwrap_err();
            assert_eq!(describe(&error).as_deref(), Some(line));
        }
    }
}
