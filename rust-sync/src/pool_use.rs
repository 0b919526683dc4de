//! How often the pool was asked for a connection, and how long that was waited for: r2d2 tells each time, and adds nothing up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use common::models::PoolUse;
use r2d2::HandleEvent;
use r2d2::event::{CheckoutEvent, TimeoutEvent};

/// Sums since the start. Clones share them: one is for the pool, another to read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters(Arc<Sums>);

#[derive(Debug, Default)]
struct Sums {
    checkouts: AtomicU64,
    /// Not in microseconds: without a wait a checkout takes less than one.
    wait_ns: AtomicU64,
}

impl Counters {
    pub(crate) fn read(&self) -> PoolUse {
        PoolUse {
            checkouts: self.0.checkouts.load(Relaxed),
            wait_us: self.0.wait_ns.load(Relaxed) / 1000,
        }
    }

    fn add(&self, wait: Duration) {
        let wait_ns = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        self.0.checkouts.fetch_add(1, Relaxed);
        self.0.wait_ns.fetch_add(wait_ns, Relaxed);
    }
}

impl HandleEvent for Counters {
    fn handle_checkout(&self, event: CheckoutEvent) {
        self.add(event.duration());
    }

    /// A wait that ended without a connection was one as well.
    fn handle_timeout(&self, event: TimeoutEvent) {
        self.add(event.timeout());
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use r2d2::{ManageConnection, Pool};

    use super::*;

    const HELD: Duration = Duration::from_millis(30);

    struct Numbers;

    impl ManageConnection for Numbers {
        type Connection = u8;
        type Error = std::fmt::Error;

        fn connect(&self) -> Result<u8, Self::Error> {
            Ok(0)
        }

        fn is_valid(&self, _: &mut u8) -> Result<(), Self::Error> {
            Ok(())
        }

        fn has_broken(&self, _: &mut u8) -> bool {
            false
        }
    }

    fn pool_of_one() -> (Pool<Numbers>, Counters) {
        let counters = Counters::default();
        let pool = Pool::builder()
            .max_size(1)
            .connection_timeout(HELD * 100)
            .event_handler(Box::new(counters.clone()))
            .build(Numbers)
            .unwrap();
        (pool, counters)
    }

    #[test]
    fn who_finds_a_connection_waits_for_less_than_a_millisecond() {
        let (pool, counters) = pool_of_one();
        for _ in 0..5 {
            drop(pool.get().unwrap());
        }
        let counted = counters.read();
        assert_eq!(counted.checkouts, 5);
        assert!(counted.wait_us < 5000, "{counted:?}");
    }

    #[test]
    fn waits_are_added_up() {
        let (pool, counters) = pool_of_one();
        let held = pool.get().unwrap();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| drop(pool.get().unwrap()));
            }
            thread::sleep(HELD);
            drop(held);
        });
        let counted = counters.read();
        assert_eq!(counted.checkouts, 3);
        assert!(counted.wait_us > 30_000, "{counted:?}");
    }

    #[test]
    fn a_wait_in_vain_counts() {
        let (pool, counters) = pool_of_one();
        let _held = pool.get().unwrap();
        assert!(pool.get_timeout(Duration::from_millis(1)).is_err());
        assert_eq!(counters.read().checkouts, 2);
    }
}
