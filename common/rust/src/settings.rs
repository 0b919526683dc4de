//! The settings of the contract, read from the environment.

use std::error::Error as _;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::{env, process};

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, FromArgMatches};
use tracing::Level;

use crate::work::Offload;

/// Of every server.
#[derive(Args, Debug)]
pub struct ServerSettings {
    /// TCP port to listen on, on all interfaces
    #[arg(long, env, default_value = "8080", value_parser = port)]
    pub port: u16,

    /// Least severe message that is logged: debug, info, warn or error
    #[arg(long, env, default_value = "warn", value_parser = log_level)]
    pub log_level: Level,

    /// 1 writes one line per request to standard output
    #[arg(long, env, default_value = "0", value_parser = switch, action = clap::ArgAction::Set)]
    pub access_log: bool,
}

/// Of servers whose handlers run on the runtime's own threads.
#[derive(Args, Debug)]
pub struct RuntimeSettings {
    /// Threads of the runtime, 1 being the single-threaded runtime [default: one per CPU]
    #[arg(long, env, value_parser = threads)]
    pub workers: Option<usize>,

    /// Threads at the most for the work that OFFLOAD moves
    #[arg(long, env, default_value = "32", value_parser = threads)]
    pub threads: usize,

    /// CPU work that leaves the event loop: none, sum or parse+sum
    #[arg(long, env, default_value = "none", value_parser = offload)]
    pub offload: Offload,
}

/// Reads them. Ends the process with one line and exit code 2 if a value is bad.
pub fn load<C: CommandFactory + FromArgMatches>() -> C {
    // Compose passes variables that nobody set as empty strings: they mean the default.
    let command = C::command().mut_args(|arg| match arg.get_env().and_then(env::var_os) {
        Some(value) if value.is_empty() => arg.env(None),
        _ => arg,
    });
    command
        .try_get_matches()
        .and_then(|matches| C::from_arg_matches(&matches))
        .unwrap_or_else(|error| {
            match describe(&error) {
                Some(line) => eprintln!("{line}"),
                None => error.exit(),
            }
            process::exit(2)
        })
}

/// One line for a bad value, which it does not repeat: it may hold a password.
pub fn describe(error: &clap::Error) -> Option<String> {
    // Given as `--db-pool-max <DB_POOL_MAX>`.
    let ContextValue::String(argument) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    let variable = argument.split(['<', '>']).nth(1)?;
    Some(format!("{variable} must be {}", error.source()?))
}

fn port(text: &str) -> Result<u16, String> {
    number(text, 1..=u16::MAX)
}

pub fn threads(text: &str) -> Result<usize, String> {
    number(text, 1..=1024)
}

pub(crate) fn number<T>(text: &str, allowed: RangeInclusive<T>) -> Result<T, String>
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

pub fn switch(text: &str) -> Result<bool, &'static str> {
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
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Settings {
        #[command(flatten)]
        _server: ServerSettings,
        #[command(flatten)]
        _runtime: RuntimeSettings,
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
            let error = Settings::try_parse_from(["server", argument]).unwrap_err();
            assert_eq!(describe(&error).as_deref(), Some(line));
        }
    }
}
