//! The log and the access log.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

use crate::settings::ServerSettings;

/// The log target of the access log.
pub const ACCESS_LOG: &str = "access";

/// The access log has a switch of its own, so it does not depend on `LOG_LEVEL`.
pub fn init(settings: &ServerSettings) {
    let access = match settings.access_log {
        true => LevelFilter::INFO,
        false => LevelFilter::OFF,
    };
    let filter = Targets::new()
        .with_default(settings.log_level)
        .with_target(ACCESS_LOG, access);
    tracing_subscriber::registry()
        .with(filter)
        .with(tracing_subscriber::fmt::layer().with_ansi(false))
        .init();
}
