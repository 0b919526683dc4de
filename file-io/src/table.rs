//! The table for people.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

use crate::cache::State;
use crate::report::{Document, Measurement, Way};
use crate::space::megabytes;
use crate::statistics::{Mean, geometric_mean, mean};

const HEAD: [&str; 9] = [
    "", "", "library", "buffer", "cache", "ms", "× loop", "CPU ms", "peak MiB",
];
const FIRST_NUMBER: usize = 5;

/// Everything that a person wants to know, without a last end of line.
pub(crate) fn render(document: &Document) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(HEAD);
    for way in &document.ways {
        for row in rows(document, way) {
            table.add_row(row);
        }
    }
    for column in table.column_iter_mut().skip(FIRST_NUMBER) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let asked = &document.asked;
    let mut lines = vec![
        format!(
            "{} files, {} lines, {}; {} threads, seed {}, {} repeats each in random order",
            asked.files,
            asked.lines,
            megabytes(asked.bytes),
            asked.threads,
            asked.seed,
            asked.repeats
        ),
        String::new(),
        table.trim_fmt(),
        String::new(),
        "ms: mean with its 95 % interval. × loop: by the tight loop on as many threads, in the same repeat, on hot files."
            .to_owned(),
        "CPU: of all threads. Every count was verified.".to_owned(),
    ];
    lines.extend(remarks(document));
    lines.join("\n")
}

/// A row for each condition under which a way was measured; one with its reason where it was not.
fn rows(document: &Document, way: &Way) -> Vec<Vec<String>> {
    let library = match (way.library, &way.version) {
        (Some(name), Some(version)) => format!("{name} {version}"),
        (name, _) => name.unwrap_or("std").to_owned(),
    };
    let head = [way.name.to_owned(), way.title.to_owned(), library];
    let mut firsts: Vec<&Measurement> = Vec::new();
    for made in document
        .measurements
        .iter()
        .filter(|made| made.name == way.name)
    {
        if !firsts.iter().any(|first| first.same_cell(made)) {
            firsts.push(made);
        }
    }
    firsts.sort_by_key(|first| (first.cache.name(), first.buffer_bytes));
    if firsts.is_empty() {
        return vec![[head.to_vec(), ["", "", "–"].map(str::to_owned).to_vec()].concat()];
    }
    firsts
        .iter()
        .map(|first| [head.to_vec(), figures(document, way, first)].concat())
        .collect()
}

fn figures(document: &Document, way: &Way, first: &Measurement) -> Vec<String> {
    let all: Vec<_> = document
        .measurements
        .iter()
        .filter(|made| made.same_cell(first))
        .collect();
    let of = |figure: fn(&Measurement) -> f64| {
        mean(&all.iter().map(|made| figure(made)).collect::<Vec<_>>())
    };
    let ratios: Vec<_> = all
        .iter()
        .filter_map(|made| ratio(document, way, made))
        .collect();
    let memory: Vec<_> = all
        .iter()
        .filter_map(|made| made.counted.peak_memory_bytes)
        .map(|bytes| bytes as f64 / f64::from(1 << 20))
        .collect();
    let off = all
        .iter()
        .filter(|made| made.cache_achieved != Some(true))
        .count();
    let cache = match off {
        0 => first.cache.name().to_owned(),
        _ => format!("{} ({off} of {} not)", first.cache.name(), all.len()),
    };
    vec![
        first
            .buffer_bytes
            .map_or_else(|| "own".to_owned(), |bytes| bytes.to_string()),
        cache,
        of(|made| made.counted.elapsed_ms).map_or_else(dash, with_interval),
        geometric_mean(&ratios).map_or_else(dash, |ratio| format!("{ratio:.2}")),
        of(|made| made.counted.cpu_user_ms + made.counted.cpu_system_ms)
            .map_or_else(dash, |found| number(found.mean)),
        mean(&memory).map_or_else(dash, |found| number(found.mean)),
    ]
}

/// By the tight loop of the same repeat, on hot files: from the disk, its large blocks are no measure.
fn ratio(document: &Document, way: &Way, made: &Measurement) -> Option<f64> {
    if made.cache == State::Cold {
        return None;
    }
    let same = |other: &&Measurement| {
        (other.name, other.repeat, other.cache) == (way.measure, made.repeat, made.cache)
    };
    let measure = document.measurements.iter().find(same)?;
    Some(made.counted.elapsed_ms / measure.counted.elapsed_ms)
}

fn remarks(document: &Document) -> Vec<String> {
    let refused = document.ways.iter().filter_map(|way| {
        way.unavailable
            .as_ref()
            .map(|reason| format!("{}: not measured: {reason}", way.name))
    });
    let off = document
        .measurements
        .iter()
        .any(|made| made.cache_achieved != Some(true));
    let not_there =
        "cache … not: so many repeats found the files elsewhere, or the kernel does not say";
    refused.chain(off.then(|| not_there.to_owned())).collect()
}

fn dash() -> String {
    "–".to_owned()
}

fn with_interval(found: Mean) -> String {
    match found.half {
        Some(half) => format!("{} ± {}", number(found.mean), number(half)),
        None => number(found.mean),
    }
}

/// Three digits that say something.
fn number(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Asking;
    use crate::variants::{ALL, find};
    use crate::worker::Counted;

    fn made(
        repeat: u32,
        name: &'static str,
        elapsed_ms: f64,
        achieved: Option<bool>,
    ) -> Measurement {
        Measurement {
            repeat,
            name,
            buffer_bytes: (!find(name).unwrap().baseline).then_some(8192),
            cache: State::Hot,
            cache_achieved: achieved,
            counted: Counted {
                lines: 5,
                elapsed_ms,
                cpu_user_ms: elapsed_ms,
                cpu_system_ms: 1.0,
                peak_memory_bytes: Some(3 << 20),
                disk_read_bytes: Some(0),
            },
        }
    }

    fn document(measurements: Vec<Measurement>) -> Document {
        Document {
            schema_version: 1,
            program: "asynctest".to_owned(),
            started_unix_s: 0,
            kernel: None,
            asked: Asking {
                files: 1,
                lines: 5,
                bytes: 150,
                repeats: 2,
                threads: 2,
                seed: 7,
                buffer_sizes_bytes: vec![8192],
            },
            made_s: 0.1,
            took_s: 1.0,
            ways: ["test04", "test12", "loop-one"]
                .map(|name| Way::of(find(name).unwrap()))
                .to_vec(),
            measurements,
        }
    }

    #[test]
    fn a_row_has_its_mean_its_ratio_and_its_cost() {
        let mut found = document(vec![
            made(1, "test04", 20.0, Some(true)),
            made(1, "loop-one", 10.0, Some(true)),
            made(2, "loop-one", 20.0, Some(true)),
            made(2, "test04", 20.0, Some(true)),
        ]);
        found.refuse("test12", "the kernel says no");
        let text = render(&found);
        let row = |name: &str| -> Vec<String> {
            let line = text
                .lines()
                .find(|line| line.trim_start().starts_with(name))
                .unwrap();
            line.split_whitespace().map(str::to_owned).collect()
        };
        assert_eq!(
            row("test04")[4..],
            [
                "std", "8192", "hot", "20.0", "±", "0.00", "1.41", "21.0", "3.00"
            ]
        );
        assert_eq!(row("test12").last().unwrap(), "–");
        assert!(
            text.contains("test12: not measured: the kernel says no"),
            "{text}"
        );
        assert!(!text.contains("not)"), "{text}");
    }

    #[test]
    fn a_cache_that_was_not_as_asked_is_told() {
        let found = document(vec![
            made(1, "test04", 20.0, Some(false)),
            made(2, "test04", 20.0, Some(true)),
        ]);
        let text = render(&found);
        assert!(text.contains("hot (1 of 2 not)"), "{text}");
        assert!(text.contains("–"), "{text}");
        assert_eq!(ALL.len(), 17);
    }
}
