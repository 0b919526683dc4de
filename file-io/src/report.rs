//! The document that a run ends with. Keys carry units; null is what was not measured.

use serde::Serialize;

use crate::cache::State;
use crate::variants::{Way, measure};
use crate::worker::Counted;

#[derive(Debug, Serialize)]
pub(crate) struct Document {
    pub(crate) schema_version: u32,
    pub(crate) asked: Asking,
    /// To write the files, down to the disk.
    pub(crate) made_s: f64,
    /// Everything, the files with it.
    pub(crate) took_s: f64,
    pub(crate) ways: Vec<Described>,
    /// In the order in which they were made.
    pub(crate) measurements: Vec<Measurement>,
}

/// What was asked for, with what was left to the program.
#[derive(Debug, Serialize)]
pub(crate) struct Asking {
    pub(crate) files: u32,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) threads: usize,
}

/// A way, or a tight loop.
#[derive(Debug, Serialize)]
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) library: Option<&'static str>,
    pub(crate) version: Option<String>,
    /// The tight loop on as many threads.
    pub(crate) measure: &'static str,
    /// Why this machine does not let it; null: it does.
    pub(crate) unavailable: Option<String>,
}

impl Described {
    pub(crate) fn of(way: &Way) -> Self {
        Self {
            name: way.name(),
            title: way.title(),
            library: way.variant.library,
            version: way.variant.library.and_then(crate::versions::compiled),
            measure: measure(way.variant.counting).name,
            unavailable: None,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Measurement {
    pub(crate) name: String,
    /// Null: the tight loop has its own.
    pub(crate) buffer_bytes: Option<usize>,
    pub(crate) cache: State,
    /// Whether the files were where `cache` says; null: not known.
    pub(crate) cache_achieved: Option<bool>,
    #[serde(flatten)]
    pub(crate) counted: Counted,
}
