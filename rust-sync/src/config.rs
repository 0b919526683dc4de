//! The settings of the contract, read from the environment.

use std::error::Error as _;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::{env, process};

use clap::error::{ContextKind, ContextValue};
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser};
use postgres::config::SslMode;
use tracing::Level;

const DATABASE_URL: &str = "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable";

/// The application on blocking threads behind hyper, with postgres and r2d2.
#[derive(Debug, Parser)]
pub(crate) struct Config {
    /// TCP port to listen on, on all interfaces
    #[arg(long, env, default_value = "8080", value_parser = port)]
    pub(crate) port: u16,

    /// Where the database is
    #[arg(long, env, hide_env_values = true, default_value = DATABASE_URL, value_parser = database_url)]
    pub(crate) database_url: postgres::Config,

    /// Least severe message that is logged: debug, info, warn or error
    #[arg(long, env, default_value = "warn", value_parser = log_level)]
    pub(crate) log_level: Level,

    /// Threads that accept, read and write
    #[arg(long, env, default_value = "1", value_parser = threads)]
    pub(crate) workers: usize,

    /// Threads that run handlers
    #[arg(long, env, default_value = "32", value_parser = threads)]
    pub(crate) threads: usize,

    /// Database connections at the most
    #[arg(long, env, default_value = "20", value_parser = db_pool_max)]
    pub(crate) db_pool_max: u32,

    /// 1 keeps database connections between requests, 0 opens one for each
    #[arg(long, env, default_value = "1", value_parser = switch, action = ArgAction::Set)]
    pub(crate) db_persistent: bool,

    /// 1 prepares each statement once per connection, 0 sends the text every time
    #[arg(long, env, default_value = "1", value_parser = switch, action = ArgAction::Set)]
    pub(crate) db_prepare: bool,

    /// 1 sends DISCARD ALL each time a connection goes back to the pool
    #[arg(long, env, default_value = "0", value_parser = switch, action = ArgAction::Set)]
    pub(crate) db_reset: bool,

    /// When the time zone is set: connection or request
    #[arg(long, env, default_value = "connection", value_parser = time_zone)]
    pub(crate) db_time_zone: TimeZone,

    /// 1 writes one line per request to standard output
    #[arg(long, env, default_value = "0", value_parser = switch, action = ArgAction::Set)]
    pub(crate) access_log: bool,
}

/// When the time zone is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TimeZone {
    Connection,
    Request,
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

/// One line for a bad value. It does not repeat the value, which may hold a password.
fn describe(error: &clap::Error) -> Option<String> {
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

fn threads(text: &str) -> Result<usize, String> {
    number(text, 1..=1024)
}

fn db_pool_max(text: &str) -> Result<u32, String> {
    number(text, 1..=10_000)
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

fn time_zone(text: &str) -> Result<TimeZone, &'static str> {
    match text {
        "connection" => Ok(TimeZone::Connection),
        "request" => Ok(TimeZone::Request),
        _ => Err("connection or request"),
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

/// There is no TLS in this build: a URL that insists on it must not be answered with plain text.
fn database_url(text: &str) -> Result<postgres::Config, &'static str> {
    match text.parse::<postgres::Config>() {
        Ok(url) if url.get_ssl_mode() != SslMode::Require && !url.get_hosts().is_empty() => Ok(url),
        _ => Err("a postgresql:// URL with a host and sslmode=disable"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Config, clap::Error> {
        Config::try_parse_from([&["rust-sync"], arguments].concat())
    }

    #[test]
    fn bad_values_are_one_line_that_names_the_variable() {
        for (argument, line) in [
            ("--port=0", "PORT must be a number from 1 to 65535"),
            ("--workers=many", "WORKERS must be a number from 1 to 1024"),
            ("--threads=0", "THREADS must be a number from 1 to 1024"),
            (
                "--db-pool-max=-1",
                "DB_POOL_MAX must be a number from 1 to 10000",
            ),
            ("--db-reset=yes", "DB_RESET must be 0 or 1"),
            (
                "--db-time-zone=UTC",
                "DB_TIME_ZONE must be connection or request",
            ),
            (
                "--log-level=loud",
                "LOG_LEVEL must be debug, info, warn or error",
            ),
        ] {
            let error = parse(&[argument]).unwrap_err();
            assert_eq!(describe(&error).as_deref(), Some(line));
        }
    }

    #[test]
    fn a_database_url_that_asks_for_tls_is_refused_and_not_shown() {
        for mode in ["require", "verify-full"] {
            let url = format!("--database-url=postgresql://app:secret@db/tandem?sslmode={mode}");
            let error = parse(&[&url]);
            let line = describe(&error.unwrap_err()).unwrap();
            assert!(line.starts_with("DATABASE_URL must be") && !line.contains("secret"));
        }
        assert!(parse(&[&format!("--database-url={DATABASE_URL}")]).is_ok());
    }
}
