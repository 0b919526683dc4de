//! The settings of the database connections, read from the environment.

use clap::Args;
use tokio_postgres::config::SslMode;

use crate::settings::{number, switch};

pub const DATABASE_URL: &str = "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable";

/// Of servers that ask the database.
#[derive(Args, Debug)]
pub struct DatabaseSettings {
    /// Where the database is
    #[arg(long, env, hide_env_values = true, default_value = DATABASE_URL, value_parser = database_url)]
    pub database_url: tokio_postgres::Config,

    /// Database connections at the most
    #[arg(long, env, default_value = "20", value_parser = db_pool_max)]
    pub db_pool_max: u32,

    /// 1 keeps database connections between requests, 0 opens one for each
    #[arg(long, env, default_value = "1", value_parser = switch, action = clap::ArgAction::Set)]
    pub db_persistent: bool,

    /// 1 sends DISCARD ALL each time a connection goes back to the pool
    #[arg(long, env, default_value = "0", value_parser = switch, action = clap::ArgAction::Set)]
    pub db_reset: bool,

    /// When the time zone is set: connection or request
    #[arg(long, env, default_value = "connection", value_parser = time_zone)]
    pub db_time_zone: TimeZone,
}

/// How often a statement is prepared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prepare {
    Never,
    /// Per connection.
    Once,
    /// What tokio-postgres does with a string: a round trip to prepare it, and one to run it.
    EachTime,
}

/// When the time zone is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeZone {
    Connection,
    Request,
}

fn db_pool_max(text: &str) -> Result<u32, String> {
    number(text, 1..=10_000)
}

/// For `DB_PREPARE`.
pub fn prepare(text: &str) -> Result<Prepare, &'static str> {
    match switch(text)? {
        true => Ok(Prepare::Once),
        false => Ok(Prepare::Never),
    }
}

fn time_zone(text: &str) -> Result<TimeZone, &'static str> {
    match text {
        "connection" => Ok(TimeZone::Connection),
        "request" => Ok(TimeZone::Request),
        _ => Err("connection or request"),
    }
}

/// There is no TLS in this build: a URL that insists on it must not be answered with plain text.
fn database_url(text: &str) -> Result<tokio_postgres::Config, &'static str> {
    match text.parse::<tokio_postgres::Config>() {
        Ok(url) if url.get_ssl_mode() != SslMode::Require && !url.get_hosts().is_empty() => Ok(url),
        _ => Err("a postgresql:// URL with a host and sslmode=disable"),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::settings::describe;

    #[derive(Debug, Parser)]
    struct Settings {
        #[command(flatten)]
        _database: DatabaseSettings,
    }

    fn parse(argument: &str) -> Result<Settings, clap::Error> {
        Settings::try_parse_from(["server", argument])
    }

    #[test]
    fn bad_values_are_one_line_that_names_the_variable() {
        for (argument, line) in [
            (
                "--db-pool-max=-1",
                "DB_POOL_MAX must be a number from 1 to 10000",
            ),
            ("--db-reset=yes", "DB_RESET must be 0 or 1"),
            (
                "--db-time-zone=UTC",
                "DB_TIME_ZONE must be connection or request",
            ),
        ] {
            assert_eq!(
                describe(&parse(argument).unwrap_err()).as_deref(),
                Some(line)
            );
        }
    }

    #[test]
    fn a_database_url_that_asks_for_tls_is_refused_and_not_shown() {
        for mode in ["require", "verify-full"] {
            let url = format!("--database-url=postgresql://app:secret@db/tandem?sslmode={mode}");
            let line = describe(&parse(&url).unwrap_err()).unwrap();
            assert!(line.starts_with("DATABASE_URL must be") && !line.contains("secret"));
        }
        assert!(parse(&format!("--database-url={DATABASE_URL}")).is_ok());
    }
}
