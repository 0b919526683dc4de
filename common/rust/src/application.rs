//! What an application does for its handlers, in its own model.

use std::time::Duration;

use axum::body::Bytes;

use crate::errors::Error;
use crate::models::{Dashboard, PoolUse, Recipe};

#[derive(Clone, Copy, Debug)]
pub enum Wanted {
    Random,
    Id(i32),
}

/// An async model awaits in here; a sync one blocks its thread and awaits nothing.
pub trait Application: Send + Sync + 'static {
    /// The sum of a JSON array of integers.
    fn sum(&self, body: Bytes) -> impl Future<Output = Result<i64, Error>> + Send;

    fn wait(&self, delay: Duration) -> impl Future<Output = ()> + Send;

    /// The wanted recipe, if the owner of the session may see it.
    fn recipe(
        &self,
        session_key: &str,
        wanted: Wanted,
    ) -> impl Future<Output = Result<Recipe, Error>> + Send;

    /// Writes a note and its event, both or neither. The id of the note is known once it is stored.
    fn write_note(
        &self,
        session_key: &str,
        recipe_id: i32,
        text: &str,
    ) -> impl Future<Output = Result<i32, Error>> + Send;

    /// What is new for the owner of the session.
    fn dashboard(&self, session_key: &str)
    -> impl Future<Output = Result<Dashboard, Error>> + Send;

    /// None where the pool keeps no connections: it has no use to tell.
    fn pool_use(&self) -> Option<PoolUse>;
}
