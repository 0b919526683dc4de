//! What the Rust implementations share: everything that is no matter of their model.

#![cfg_attr(test, allow(clippy::unwrap_used))]

#[cfg(feature = "application")]
pub mod application;
pub mod bodies;
#[cfg(feature = "application")]
pub mod connection;
#[cfg(feature = "application")]
pub mod database;
pub mod errors;
#[cfg(feature = "application")]
pub mod extractors;
#[cfg(feature = "application")]
mod handlers;
pub mod json;
pub mod logging;
#[cfg(feature = "application")]
pub mod models;
#[cfg(feature = "application")]
pub mod queries;
#[cfg(feature = "application")]
pub mod routes;
#[cfg(feature = "application")]
pub mod rows;
pub mod server;
pub mod settings;
pub mod users;
pub mod work;
