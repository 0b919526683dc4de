//! The settings of the contract, read from the environment.

use std::env;
use std::num::{NonZeroU16, NonZeroUsize};
use std::thread::available_parallelism;

use clap::builder::BoolishValueParser;
use clap::error::{ContextKind, ContextValue};
use clap::{ArgAction, Args, Parser, ValueEnum};
use tracing::Level;

/// Settings of every server.
#[derive(Args, Clone, Debug)]
pub struct ServerSettings {
    /// TCP port to listen on, on all interfaces
    #[arg(long, env, default_value = "8080")]
    pub port: NonZeroU16,

    /// Least severe message that is logged: debug, info, warn or error
    #[arg(long, env, default_value = "warn")]
    pub log_level: Level,

    /// 1 writes one line per request to standard output
    #[arg(long, env, default_value = "0", value_parser = BoolishValueParser::new(), action = ArgAction::Set)]
    pub access_log: bool,

    /// Threads that serve HTTP, 1 being the single-threaded runtime
    #[arg(long, env, default_value_t = available_parallelism().unwrap_or(NonZeroUsize::MIN))]
    pub workers: NonZeroUsize,

    /// Threads at the most for work that blocks
    #[arg(long, env, default_value = "32")]
    pub threads: NonZeroUsize,
}

/// Settings of the connections to the database.
#[cfg(feature = "database")]
#[derive(Args, Clone, Debug)]
pub struct DatabaseSettings {
    /// Where the database is
    #[arg(
        long,
        env,
        hide_env_values = true,
        default_value = "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable"
    )]
    pub database_url: tokio_postgres::Config,

    /// Database connections at the most
    #[arg(long, env, default_value = "20")]
    pub db_pool_max: NonZeroU16,

    /// 1 keeps database connections between requests, 0 opens one for each
    #[arg(long, env, default_value = "1", value_parser = BoolishValueParser::new(), action = ArgAction::Set)]
    pub db_persistent: bool,

    /// How often a connection prepares a statement: 0 never, 1 once, each (a published program) each time that it runs
    #[arg(long, env, default_value = "1")]
    pub db_prepare: Prepare,

    /// 1 sends DISCARD ALL each time a connection goes back to the pool
    #[arg(long, env, default_value = "0", value_parser = BoolishValueParser::new(), action = ArgAction::Set)]
    pub db_reset: bool,

    /// When the time zone is set
    #[arg(long, env, default_value = "connection")]
    pub db_time_zone: TimeZone,
}

/// How often a connection prepares a statement.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Prepare {
    #[value(name = "0")]
    Never,
    #[value(name = "1")]
    Once,
    #[value(name = "each")]
    EachTime,
}

/// When the time zone is set.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum TimeZone {
    Connection,
    Request,
}

/// Reads the settings, or ends the process with a message that names the variable whose value is bad.
pub fn load<C: Parser>() -> C {
    // Compose passes variables that nobody set as empty strings: they mean the default.
    let command = C::command().mut_args(|arg| match arg.get_env().and_then(env::var_os) {
        Some(value) if value.is_empty() => arg.env(None),
        _ => arg,
    });
    let matches = command
        .try_get_matches()
        .and_then(|matches| C::from_arg_matches(&matches));
    matches.unwrap_or_else(|error| without_value(error).exit())
}

/// The message does not repeat the value, which may hold a password.
fn without_value(mut error: clap::Error) -> clap::Error {
    error.insert(ContextKind::InvalidValue, ContextValue::String("…".to_owned()));
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Parser)]
    struct Settings {
        #[command(flatten)]
        server: ServerSettings,
        #[cfg(feature = "database")]
        #[command(flatten)]
        database: DatabaseSettings,
    }

    fn parse(argument: &str) -> Result<Settings, clap::Error> {
        Settings::try_parse_from(["server", argument])
    }

    #[test]
    fn a_message_names_the_variable() {
        for argument in [
            "--port=0",
            "--workers=many",
            "--threads=0",
            "--access-log=maybe",
            "--log-level=loud",
            #[cfg(feature = "database")]
            "--db-pool-max=-1",
            #[cfg(feature = "database")]
            "--db-time-zone=UTC",
            #[cfg(feature = "database")]
            "--db-prepare=maybe",
        ] {
            let variable = argument.split(['-', '=']).filter(|part| !part.is_empty());
            let words: Vec<_> = variable.map(str::to_uppercase).collect();
            let variable = words[..words.len() - 1].join("_");
            let message = without_value(parse(argument).unwrap_err()).to_string();
            assert!(message.contains(&format!("<{variable}>")), "{message}");
        }
    }

    #[test]
    fn there_is_a_worker_per_cpu_unless_said() {
        let cpus = available_parallelism().unwrap().get();
        assert_eq!(parse("--port=1").unwrap().server.workers.get(), cpus);
        assert_eq!(parse("--workers=3").unwrap().server.workers.get(), 3);
    }

    #[cfg(feature = "database")]
    #[test]
    fn a_bad_address_of_the_database_is_not_shown() {
        let error = parse("--database-url=postgresql://app:secret@db/tandem?sslmode=x").unwrap_err();
        let message = without_value(error).to_string();
        assert!(message.contains("<DATABASE_URL>") && !message.contains("secret"));
    }

    #[cfg(feature = "database")]
    #[test]
    fn statements_are_prepared_never_once_or_each_time() {
        for (value, expected) in [("0", Prepare::Never), ("1", Prepare::Once), ("each", Prepare::EachTime)] {
            let settings = parse(&format!("--db-prepare={value}")).unwrap();
            assert_eq!(settings.database.db_prepare, expected);
        }
    }
}
