//! What all connections share: the behaviour, the log, the queue of the single server.

use std::fmt::Write;
use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::behaviour::{Behaviour, Kind};
use crate::connection::{BODY, answer};
use crate::system::burn;

/// A behaviour, its right answer, since when it counts, and how many requests of the generator there were since.
pub struct Armed {
    pub behaviour: Behaviour,
    pub right: String,
    since: Instant,
    requests: AtomicU64,
}

type Served = (Instant, Instant);

/// So much may a sleep last too long.
const OVERSHOOT: Duration = Duration::from_micros(300);

struct Job {
    takes: Duration,
    busy: bool,
    done: Sender<Served>,
}

pub struct State {
    epoch: Instant,
    armed: RwLock<Arc<Armed>>,
    log: Mutex<Vec<[u64; 4]>>,
    queue: Mutex<Sender<Job>>,
    left: Mutex<Sender<(Instant, Duration)>>,
}

impl State {
    /// Answers at once until it is armed.
    pub fn new() -> Self {
        let (queue, jobs) = channel::<Job>();
        thread::spawn(move || {
            for job in jobs {
                let start = Instant::now();
                if job.busy {
                    burn(job.takes);
                } else {
                    end_at(start + job.takes);
                }
                let _ = job.done.send((start, Instant::now()));
            }
        });
        let (left, due) = channel::<(Instant, Duration)>();
        thread::spawn(move || {
            for (moment, cpu) in due {
                sleep_until(moment);
                burn(cpu);
            }
        });
        let idle = Behaviour::parse("kind=constant").expect("a kind that exists");
        Self {
            epoch: Instant::now(),
            armed: RwLock::new(Arc::new(Armed::new(idle))),
            log: Mutex::new(Vec::with_capacity(1 << 17)),
            queue: Mutex::new(queue),
            left: Mutex::new(left),
        }
    }

    /// From now on this behaviour; the log begins anew.
    pub fn arm(&self, behaviour: Behaviour) {
        *self.armed.write().expect("no panic") = Arc::new(Armed::new(behaviour));
        self.log.lock().expect("no panic").clear();
    }

    pub fn armed(&self) -> Arc<Armed> {
        self.armed.read().expect("no panic").clone()
    }

    /// Takes the time that this request takes, and says from when to when.
    pub fn serve(&self, armed: &Armed, arrival: Instant) -> Served {
        let behaviour = &armed.behaviour;
        let takes = behaviour.duration(armed.requests.fetch_add(1, Ordering::Relaxed));
        match behaviour.kind {
            Kind::Queue => {
                let (done, served) = channel();
                let job = Job { takes, busy: behaviour.busy, done };
                self.queue.lock().expect("no panic").send(job).expect("the queue's thread never ends");
                return served.recv().expect("every job is answered");
            }
            Kind::Spin => {
                burn(takes);
                self.leave(behaviour);
            }
            Kind::Stall => sleep_until(armed.stalled(arrival + takes)),
            Kind::Drift => sleep_until(arrival + takes + armed.later(arrival)),
            _ => sleep_until(arrival + takes),
        }
        (arrival, Instant::now())
    }

    /// Leaves a part of the request's work for later.
    fn leave(&self, behaviour: &Behaviour) {
        if behaviour.later_us > 0.0 {
            let due = Instant::now() + Duration::from_secs_f64(behaviour.later_ms / 1e3);
            let cpu = Duration::from_secs_f64(behaviour.later_us / 1e6);
            self.left.lock().expect("no panic").send((due, cpu)).expect("its thread never ends");
        }
    }

    pub fn note(&self, arrival: Instant, (start, finish): Served) {
        let us = |moment: Instant| moment.duration_since(self.epoch).as_micros() as u64;
        let wall = SystemTime::now() - arrival.elapsed();
        let wall_us = wall.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as u64);
        let line = [us(arrival), us(start), us(finish), wall_us];
        self.log.lock().expect("no panic").push(line);
    }

    /// The requests of the generator since it was armed, in the order of their ends.
    pub fn csv(&self) -> String {
        let mut out = String::from("arrival_us,start_us,finish_us,arrival_wall_us\n");
        for [arrival, start, finish, wall] in self.log.lock().expect("no panic").iter() {
            let _ = writeln!(out, "{arrival},{start},{finish},{wall}");
        }
        out
    }
}

impl Armed {
    fn new(behaviour: Behaviour) -> Self {
        let mut more = String::new();
        for number in 0..behaviour.headers {
            let _ = write!(more, "X-More-{number}: {number}\r\n");
        }
        let right = answer("200 OK", "text/plain", BODY, &more);
        Self { behaviour, right, since: Instant::now(), requests: AtomicU64::new(0) }
    }

    fn later(&self, arrival: Instant) -> Duration {
        let armed_s = arrival.saturating_duration_since(self.since).as_secs_f64();
        Duration::from_secs_f64(self.behaviour.more_us / 1e6 * armed_s)
    }

    fn stalled(&self, due: Instant) -> Instant {
        let from = self.since + Duration::from_secs_f64(self.behaviour.at_ms / 1e3);
        let until = from + Duration::from_secs_f64(self.behaviour.for_ms / 1e3);
        if from <= due && due < until { until } else { due }
    }
}

fn sleep_until(moment: Instant) {
    let left = moment.saturating_duration_since(Instant::now());
    if !left.is_zero() {
        thread::sleep(left);
    }
}

/// Sleeps but for the last moment: a sleep lasts a little too long, and here the next request would wait for that.
fn end_at(moment: Instant) {
    sleep_until(moment.checked_sub(OVERSHOOT).unwrap_or(moment));
    while Instant::now() < moment {
        hint::spin_loop();
    }
}
