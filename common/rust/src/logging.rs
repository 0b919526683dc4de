//! The log, on standard error, and the access log, on standard output.

use std::io::stderr;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::layer;
use tracing_subscriber::prelude::*;

use crate::settings::ServerSettings;

/// The lines of the target `access` are the access log. It has a switch of its own, so it does not depend on `LOG_LEVEL`.
pub fn init(settings: &ServerSettings, access: &str) {
    let others = Targets::new()
        .with_default(settings.log_level)
        .with_target(access, LevelFilter::OFF);
    let log = layer().with_ansi(false).with_writer(stderr);
    let access = Targets::new().with_target(access, LevelFilter::DEBUG);
    let access_log = layer().with_ansi(false).with_filter(access);
    tracing_subscriber::registry()
        .with(log.with_filter(others))
        .with(settings.access_log.then_some(access_log))
        .init();
}
