//! The document that a run ends with. Keys carry units; null is what was not measured.

use serde::Serialize;

use crate::arguments::Asked;
use crate::cache::State;
use crate::schedule::Cell;
use crate::variants::{Variant, measure};
use crate::worker::Counted;

#[derive(Debug, Serialize)]
pub(crate) struct Document {
    pub(crate) schema_version: u32,
    pub(crate) program: String,
    pub(crate) started_unix_s: u64,
    pub(crate) kernel: Option<String>,
    pub(crate) asked: Asking,
    /// To write the files, down to the disk.
    pub(crate) made_s: f64,
    /// Everything, the files with it.
    pub(crate) took_s: f64,
    pub(crate) ways: Vec<Way>,
    /// In the order in which they were made.
    pub(crate) measurements: Vec<Measurement>,
}

/// What was asked for, with what was left to the program.
#[derive(Debug, Serialize)]
pub(crate) struct Asking {
    pub(crate) files: u32,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) repeats: u32,
    pub(crate) threads: usize,
    pub(crate) seed: u32,
    pub(crate) buffer_sizes_bytes: Vec<usize>,
}

impl Asking {
    pub(crate) fn of(asked: &Asked, threads: usize, seed: u32, bytes: u64) -> Self {
        Self {
            files: asked.files,
            lines: asked.lines,
            bytes,
            repeats: asked.repeats,
            threads,
            seed,
            buffer_sizes_bytes: asked.buffer_size.clone(),
        }
    }
}

/// A variant, or a tight loop.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) library: Option<&'static str>,
    pub(crate) version: Option<String>,
    /// The tight loop on as many threads.
    pub(crate) measure: &'static str,
    /// Why this machine does not let it; null: it does.
    pub(crate) unavailable: Option<String>,
}

impl Way {
    pub(crate) fn of(variant: &Variant) -> Self {
        Self {
            name: variant.name,
            title: variant.title,
            library: variant.library,
            version: None,
            measure: measure(variant.counting).name,
            unavailable: None,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measurement {
    pub(crate) repeat: u32,
    pub(crate) name: &'static str,
    /// Null: the tight loop has its own.
    pub(crate) buffer_bytes: Option<usize>,
    pub(crate) cache: State,
    /// Whether the files were where `cache` says; null: not known.
    pub(crate) cache_achieved: Option<bool>,
    #[serde(flatten)]
    pub(crate) counted: Counted,
}

impl Measurement {
    pub(crate) fn of(repeat: u32, cell: &Cell, counted: &Counted, bytes: u64) -> Self {
        Self {
            repeat,
            name: cell.variant.name,
            buffer_bytes: cell.buffer_bytes,
            cache: cell.cache,
            cache_achieved: cell.cache.achieved(counted.disk_read_bytes, bytes),
            counted: counted.clone(),
        }
    }

    /// The same way under the same condition.
    pub(crate) fn same_cell(&self, other: &Self) -> bool {
        (self.name, self.buffer_bytes, self.cache) == (other.name, other.buffer_bytes, other.cache)
    }
}

impl Document {
    pub(crate) fn way(&self, name: &str) -> Option<&Way> {
        self.ways.iter().find(|way| way.name == name)
    }

    /// Notes that this machine does not let a way.
    pub(crate) fn refuse(&mut self, name: &str, reason: &str) {
        self.ways
            .iter_mut()
            .filter(|way| way.name == name)
            .for_each(|way| way.unavailable = Some(reason.to_owned()));
    }
}
