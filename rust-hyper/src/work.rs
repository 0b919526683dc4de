//! The CPU work of the scenario `work`, and where it is done.

use std::panic::resume_unwind;

use clap::ValueEnum;
use hyper::body::Bytes;
use tokio::task::spawn_blocking;

use crate::errors::Error;
use crate::json;

/// What leaves the event loop for the blocking threads of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Offload {
    None,
    Sum,
    #[value(name = "parse+sum")]
    ParseAndSum,
}

/// The sum of a JSON array of integers, where it is to be made.
pub(crate) async fn sum_at(body: Bytes, offload: Offload) -> Result<i64, Error> {
    match offload {
        Offload::None => sum(&body),
        Offload::Sum => {
            let numbers = json::parse::<Vec<i32>>(&body)?;
            Ok(elsewhere(move || add(&numbers)).await)
        }
        Offload::ParseAndSum => elsewhere(move || sum(&body)).await,
    }
}

/// The sum of a JSON array of integers.
fn sum(body: &[u8]) -> Result<i64, Error> {
    Ok(add(&json::parse::<Vec<i32>>(body)?))
}

fn add(numbers: &[i32]) -> i64 {
    numbers.iter().copied().map(i64::from).sum()
}

/// A panic over there is a panic here.
async fn elsewhere<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => resume_unwind(error.into_panic()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_sum_is_the_same_wherever_it_is_made() {
        for offload in [Offload::None, Offload::Sum, Offload::ParseAndSum] {
            for (body, result) in [("[]", 0), ("[1,2,-5]", -2), ("[2147483647,2147483647]", 4_294_967_294)] {
                let body = Bytes::from_static(body.as_bytes());
                assert_eq!(sum_at(body, offload).await.unwrap(), result);
            }
            let error = sum_at(Bytes::from_static(b"[1.5]"), offload).await;
            assert!(matches!(error, Err(Error::Unprocessable)));
        }
    }
}
