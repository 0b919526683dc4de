//! What the server does with a request: how long it takes, or how it lies. Pure.

use std::collections::HashMap;
use std::f64::consts::TAU;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `us` for each request.
    Constant,
    /// `us`, and `more_us` longer for each second since it was armed.
    Drift,
    /// `us`, and `slow_us` for a share of the requests.
    Mixture,
    /// Median `us`, standard deviation of the logarithm `sigma`.
    LogNormal,
    /// `us`; what would end from `at_ms` on, ends `for_ms` later together.
    Stall,
    /// One request at a time, exponential with mean `us`; with `busy`, each uses exactly `us` of CPU.
    Queue,
    /// Each request uses `us` of CPU on the thread of its connection, and `later_us` on another one, `later_ms` afterwards.
    Spin,
    /// Status 500, at once.
    Fail,
    /// Nobody listens, and open connections end.
    Refuse,
    /// The head and half of the body, then a reset.
    Reset,
    /// Half of the body, and a length that says so.
    Short,
    /// Status 302.
    Redirect,
    /// A right answer, after which the connection ends.
    Close,
    /// No answer.
    Hang,
}

const KINDS: [(&str, Kind); 14] = [
    ("constant", Kind::Constant),
    ("drift", Kind::Drift),
    ("mixture", Kind::Mixture),
    ("lognormal", Kind::LogNormal),
    ("stall", Kind::Stall),
    ("queue", Kind::Queue),
    ("spin", Kind::Spin),
    ("fail", Kind::Fail),
    ("refuse", Kind::Refuse),
    ("reset", Kind::Reset),
    ("short", Kind::Short),
    ("redirect", Kind::Redirect),
    ("close", Kind::Close),
    ("hang", Kind::Hang),
];

#[derive(Clone, Debug)]
pub struct Behaviour {
    pub kind: Kind,
    pub us: f64,
    pub more_us: f64,
    pub slow_us: f64,
    pub slow_share: f64,
    pub sigma: f64,
    pub at_ms: f64,
    pub for_ms: f64,
    pub busy: bool,
    pub later_us: f64,
    pub later_ms: f64,
    pub seed: u64,
    /// Header fields added to each right answer, which the client has to parse.
    pub headers: u32,
}

impl Behaviour {
    /// Reads `kind=stall&us=5000&at_ms=10000`. What is not given is 0; an error names what is not understood.
    pub fn parse(query: &str) -> Result<Self, String> {
        let mut given: HashMap<&str, &str> = query.split('&').filter_map(|p| p.split_once('=')).collect();
        let name = given.remove("kind").unwrap_or("constant");
        let kind = KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        let mut number = |key: &str| -> Result<f64, String> {
            let text = given.remove(key).unwrap_or("0");
            text.parse().map_err(|_| format!("{key}={text} is no number"))
        };
        let out = Self {
            kind: kind.ok_or_else(|| format!("there is no kind {name}"))?,
            us: number("us")?,
            more_us: number("more_us")?,
            slow_us: number("slow_us")?,
            slow_share: number("slow_share")?,
            sigma: number("sigma")?,
            at_ms: number("at_ms")?,
            for_ms: number("for_ms")?,
            busy: number("busy")? > 0.0,
            later_us: number("later_us")?,
            later_ms: number("later_ms")?,
            seed: number("seed")? as u64,
            headers: number("headers")? as u32,
        };
        match given.keys().next() {
            Some(key) => Err(format!("{key} is not known")),
            None => Ok(out),
        }
    }

    /// How long request `n` takes: the same for the same seed and n, whatever happened before.
    pub fn duration(&self, n: u64) -> Duration {
        let (one, two) = (uniform(self.seed, 2 * n), uniform(self.seed, 2 * n + 1));
        let us = match self.kind {
            Kind::Mixture if one < self.slow_share => self.slow_us,
            // https://en.wikipedia.org/wiki/Box-Muller_transform
            Kind::LogNormal => self.us * (self.sigma * (-2.0 * one.ln()).sqrt() * (TAU * two).cos()).exp(),
            Kind::Queue if !self.busy => -self.us * one.ln(),
            _ => self.us,
        };
        Duration::from_secs_f64(us / 1e6)
    }
}

/// Number n of a stream of uniform numbers in (0, 1): `SplitMix64`, <https://prng.di.unimi.it/splitmix64.c>
/// The seed is mixed first: two seeds that lie 1000 apart would otherwise have one stream, 1000 numbers apart.
fn uniform(seed: u64, n: u64) -> f64 {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    let z = mixed(mixed(seed.wrapping_mul(STEP)).wrapping_add(STEP.wrapping_mul(n + 1)));
    (z >> 11).max(1) as f64 / (1_u64 << 53) as f64
}

const fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn durations(query: &str) -> Vec<f64> {
        let behaviour = Behaviour::parse(query).unwrap();
        (0..100_000).map(|n| behaviour.duration(n).as_secs_f64() * 1e6).collect()
    }

    #[test]
    fn an_exponential_has_its_mean_and_its_tail() {
        let found = durations("kind=queue&us=1000&seed=7");
        let mean = found.iter().sum::<f64>() / 1e5;
        let above = found.iter().filter(|us| **us > 1000.0).count() as f64 / 1e5;
        assert!((mean - 1000.0).abs() < 15.0, "{mean}");
        assert!((above - (-1.0_f64).exp()).abs() < 0.005, "{above}");
    }

    #[test]
    fn streams_of_different_seeds_have_nothing_in_common() {
        let seen: HashSet<u64> =
            (0..10).flat_map(|k| (0..1000).map(move |n| uniform(50 + 100 * k, n).to_bits())).collect();
        assert_eq!(seen.len(), 10_000);
    }

    #[test]
    fn a_lognormal_has_its_median_and_its_width() {
        let mut found = durations("kind=lognormal&us=1000&sigma=0.5&seed=7");
        found.sort_by(f64::total_cmp);
        assert!((found[50_000] - 1000.0).abs() < 10.0);
        assert!((found[84_134] - 1000.0 * 0.5_f64.exp()).abs() < 25.0);
    }

    #[test]
    fn a_mixture_has_its_share() {
        let found = durations("kind=mixture&us=2000&slow_us=100000&slow_share=0.1");
        let slow = found.iter().filter(|us| **us > 50_000.0).count() as f64 / 1e5;
        assert!((slow - 0.1).abs() < 0.004, "{slow}");
    }

    #[test]
    fn what_is_not_understood_is_named() {
        assert!(Behaviour::parse("kind=sleepy").unwrap_err().contains("sleepy"));
        assert!(Behaviour::parse("us=fast").unwrap_err().contains("us=fast"));
        assert!(Behaviour::parse("sleep=1").unwrap_err().contains("sleep"));
    }
}
