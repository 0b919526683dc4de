//! A fixed number of threads, and the queue in front of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::{io, thread};

use async_channel::{Receiver, Sender};
use tokio::sync::oneshot;

/// Jobs that wait for a thread. Whoever finds the queue full waits for a place in it.
const QUEUE: usize = 1024;

/// Runs one function on threads that may block; those who call it wait without one.
pub(crate) struct Executor<I, O> {
    queue: Sender<Job<I, O>>,
}

struct Job<I, O> {
    input: I,
    reply: oneshot::Sender<O>,
}

/// There is no output, because the function panicked.
#[derive(Debug, thiserror::Error)]
#[error("the handler panicked")]
pub(crate) struct Panicked;

impl<I: Send + 'static, O: Send + 'static> Executor<I, O> {
    /// The threads start now and stay.
    pub(crate) fn start(
        threads: usize,
        work: impl Fn(I) -> O + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let (queue, jobs) = async_channel::bounded(QUEUE);
        let work = Arc::new(work);
        for number in 0..threads {
            let (jobs, work) = (jobs.clone(), Arc::clone(&work));
            thread::Builder::new()
                .name(format!("handler-{number}"))
                .spawn(move || run(&jobs, &*work))?;
        }
        Ok(Self { queue })
    }

    /// Jobs are taken in the order in which they come. One that is given up is not begun any more.
    pub(crate) async fn execute(&self, input: I) -> Result<O, Panicked> {
        let (reply, output) = oneshot::channel();
        let job = Job { input, reply };
        self.queue.send(job).await.map_err(|_| Panicked)?;
        output.await.map_err(|_| Panicked)
    }
}

fn run<I, O>(jobs: &Receiver<Job<I, O>>, work: impl Fn(I) -> O) {
    while let Ok(Job { input, reply }) = jobs.recv_blocking() {
        if reply.is_closed() {
            continue;
        }
        // What a panic interrupts belongs to its own job; the pool throws a connection away.
        if let Ok(output) = catch_unwind(AssertUnwindSafe(|| work(input))) {
            // The caller may have gone meanwhile.
            let _ = reply.send(output);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn as_many_jobs_run_at_once_as_there_are_threads() {
        let both = Barrier::new(2);
        let executor = Executor::start(2, move |number| {
            both.wait();
            number * 2
        })
        .unwrap();
        let (one, two) = tokio::join!(executor.execute(1), executor.execute(2));
        assert_eq!((one.unwrap(), two.unwrap()), (2, 4));
    }

    #[tokio::test]
    async fn a_panic_ends_one_job_and_not_its_thread() {
        let executor = Executor::start(1, |number: u8| 100 / number).unwrap();
        assert!(executor.execute(0).await.is_err());
        assert_eq!(executor.execute(5).await.unwrap(), 20);
    }

    #[tokio::test]
    async fn a_job_that_is_given_up_in_the_queue_is_not_begun() {
        static BEGUN: AtomicUsize = AtomicUsize::new(0);
        let executor = Executor::start(1, |()| {
            BEGUN.fetch_add(1, Relaxed);
            thread::sleep(Duration::from_millis(50));
        })
        .unwrap();
        let given_up = timeout(Duration::from_millis(10), executor.execute(()));
        let (first, second) = tokio::join!(executor.execute(()), given_up);
        assert!(first.is_ok() && second.is_err());
        executor.execute(()).await.unwrap();
        assert_eq!(BEGUN.load(Relaxed), 2);
    }

    #[tokio::test]
    async fn a_full_queue_makes_callers_wait() {
        let executor = Arc::new(Executor::start(2, |number| number).unwrap());
        let jobs: Vec<_> = (0..3 * QUEUE)
            .map(|number| {
                let executor = Arc::clone(&executor);
                tokio::spawn(async move { executor.execute(number).await })
            })
            .collect();
        for (number, job) in jobs.into_iter().enumerate() {
            assert_eq!(job.await.unwrap().unwrap(), number);
        }
    }
}
