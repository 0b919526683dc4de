//! The CPU work of the scenario `work`, and where it is done.

use std::panic::resume_unwind;

use axum::body::Bytes;
use tokio::task::spawn_blocking;

use crate::errors::Error;
use crate::json;

/// What leaves the event loop for the blocking threads of the runtime.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Offload {
    None,
    Sum,
    ParseAndSum,
}

/// The sum of a JSON array of integers.
pub(crate) async fn sum(body: Bytes, offload: Offload) -> Result<i64, Error> {
    match offload {
        Offload::None => Ok(add(&json::parse::<Vec<i32>>(&body)?)),
        Offload::Sum => {
            let numbers = json::parse::<Vec<i32>>(&body)?;
            Ok(elsewhere(move || add(&numbers)).await)
        }
        Offload::ParseAndSum => elsewhere(move || Ok(add(&json::parse::<Vec<i32>>(&body)?))).await,
    }
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
            for (body, result) in [
                ("[]", 0),
                ("[1,2,-5]", -2),
                ("[2147483647,2147483647]", 4_294_967_294),
            ] {
                let body = Bytes::from_static(body.as_bytes());
                assert_eq!(sum(body, offload).await.unwrap(), result);
            }
            let error = sum(Bytes::from_static(b"[1.5]"), offload).await;
            assert!(matches!(error, Err(Error::Unprocessable)));
        }
    }
}
