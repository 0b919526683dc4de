//! The scenario `work`: adds numbers and waits, on a thread that it keeps from all other requests.

use std::thread::sleep;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::Query;
use serde::Deserialize;
use tokio::task::spawn_blocking;

use crate::errors::Error;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wait {
    delay_ms: u64,
}

pub(crate) async fn work(Query(Wait { delay_ms }): Query<Wait>, body: Bytes) -> Result<String, Error> {
    if delay_ms > 10_000 {
        return Err(Error::BadRequest);
    }
    let answer = spawn_blocking(move || {
        let numbers: Vec<i32> = serde_json::from_slice(&body)?;
        let sum: i64 = numbers.into_iter().map(i64::from).sum();
        sleep(Duration::from_millis(delay_ms));
        Ok(format!("Sum: {sum}"))
    });
    answer.await.map_err(Error::internal)?
}
