//! The settings of the contract, read from the environment.

use clap::Parser;
use common::database::{DatabaseSettings, Prepare, prepare};
use common::settings::{RuntimeSettings, ServerSettings};

/// The application on axum, tokio-postgres and bb8.
#[derive(Debug, Parser)]
pub(crate) struct Config {
    #[command(flatten)]
    pub(crate) server: ServerSettings,

    #[command(flatten)]
    pub(crate) runtime: RuntimeSettings,

    #[command(flatten)]
    pub(crate) database: DatabaseSettings,

    /// 1 prepares each statement once per connection, 0 sends the text every time, each prepares
    /// it every time
    #[arg(long, env, default_value = "1", value_parser = prepare_or_each)]
    pub(crate) db_prepare: Prepare,
}

/// What a published program did (`just reproduce sync-to-async-python`).
fn prepare_or_each(text: &str) -> Result<Prepare, &'static str> {
    match text {
        "each" => Ok(Prepare::EachTime),
        _ => prepare(text).map_err(|_| "0, 1 or each"),
    }
}

#[cfg(test)]
mod tests {
    use common::settings::describe;

    use super::*;

    #[test]
    fn statements_may_be_prepared_each_time() {
        let parse = |argument| Config::try_parse_from(["rust-async", argument]);
        for (argument, expected) in [
            ("--db-prepare=0", Prepare::Never),
            ("--db-prepare=1", Prepare::Once),
            ("--db-prepare=each", Prepare::EachTime),
        ] {
            assert_eq!(parse(argument).unwrap().db_prepare, expected);
        }
        let error = parse("--db-prepare=yes").unwrap_err();
        let line = "DB_PREPARE must be 0, 1 or each";
        assert_eq!(describe(&error).as_deref(), Some(line));
    }
}
