//! The scenario `work`: adds numbers, here or on a blocking thread, then waits.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Query, State};
use clap::ValueEnum;
use serde::Deserialize;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::errors::Error;

/// What leaves the event loop for the blocking threads of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Offload {
    None,
    Sum,
    #[value(name = "parse+sum")]
    ParseAndSum,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wait {
    delay_ms: u64,
}

pub(crate) async fn work(
    State(offload): State<Offload>,
    Query(Wait { delay_ms }): Query<Wait>,
    body: Bytes,
) -> Result<String, Error> {
    if delay_ms > 10_000 {
        return Err(Error::BadRequest);
    }
    let sum = match offload {
        Offload::None => sum(&body)?,
        Offload::Sum => {
            let numbers: Vec<i32> = serde_json::from_slice(&body)?;
            spawn_blocking(move || add(&numbers)).await.map_err(Error::internal)?
        }
        Offload::ParseAndSum => spawn_blocking(move || sum(&body)).await.map_err(Error::internal)??,
    };
    if delay_ms > 0 {
        sleep(Duration::from_millis(delay_ms)).await;
    }
    Ok(format!("Sum: {sum}"))
}

fn sum(body: &[u8]) -> Result<i64, Error> {
    Ok(add(&serde_json::from_slice::<Vec<i32>>(body)?))
}

fn add(numbers: &[i32]) -> i64 {
    numbers.iter().copied().map(i64::from).sum()
}
