//! What the Rust programs share, whatever their stack: settings, logs, the table of users; with the feature `database` the
//! statements of the contract and the bodies of the API.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod logging;
#[cfg(feature = "database")]
pub mod models;
#[cfg(feature = "database")]
pub mod queries;
pub mod settings;
pub mod users;
