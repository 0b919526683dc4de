//! What is measured in which order: every repeat is a complete block in an order of its own.

use fastrand::Rng;

use crate::arguments::{Asked, Cache};
use crate::cache::State;
use crate::variants::{ALL, Variant, measure};

/// One way under one condition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) variant: &'static Variant,
    /// None: the tight loop has its own.
    pub(crate) buffer_bytes: Option<usize>,
    pub(crate) cache: State,
}

/// Every cell that is asked for, and the tight loops that it is held against, in the order of the table.
pub(crate) fn cells(asked: &Asked) -> Vec<Cell> {
    let wanted = |variant: &Variant| {
        let named = |name| asked.only.iter().any(|only| only.name == name);
        asked.only.is_empty()
            || named(variant.name)
            || (variant.baseline
                && asked
                    .only
                    .iter()
                    .any(|only| measure(only.counting).name == variant.name))
    };
    let states: &[State] = match asked.cache {
        Cache::Hot => &[State::Hot],
        Cache::Cold => &[State::Cold],
        Cache::Both => &[State::Hot, State::Cold],
    };
    let mut cells = Vec::new();
    for &cache in states {
        for variant in ALL.iter().filter(|variant| wanted(variant)) {
            let buffers = match variant.baseline {
                true => vec![None],
                false => asked.buffer_size.iter().copied().map(Some).collect(),
            };
            cells.extend(buffers.into_iter().map(|buffer_bytes| Cell {
                variant,
                buffer_bytes,
                cache,
            }));
        }
    }
    cells
}

/// For each repeat the places of all cells in the order of their measurement.
pub(crate) fn order(cells: usize, repeats: u32, seed: u32) -> Vec<Vec<usize>> {
    let mut chance = Rng::with_seed(u64::from(seed));
    (0..repeats)
        .map(|_| {
            let mut block: Vec<_> = (0..cells).collect();
            chance.shuffle(&mut block);
            block
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::arguments::Arguments;

    fn asked(line: &str) -> Asked {
        Arguments::try_parse_from(line.split_whitespace())
            .unwrap()
            .asked
            .unwrap()
    }

    #[test]
    fn every_axis_is_crossed_but_the_loops_have_one_buffer() {
        let cells = cells(&asked(
            "asynctest x 1 1 --cache both --buffer-size 8192,65536",
        ));
        assert_eq!(cells.len(), 2 * (15 * 2 + 2));
        assert!(
            cells
                .iter()
                .all(|cell| cell.variant.baseline == cell.buffer_bytes.is_none())
        );
    }

    #[test]
    fn a_choice_brings_its_measure_with_it() {
        let names = |only: &str| -> Vec<_> {
            let line = format!("asynctest x 1 1 --buffer-size 8192 --only {only}");
            cells(&asked(&line))
                .iter()
                .map(|cell| cell.variant.name)
                .collect()
        };
        assert_eq!(names("test04"), ["test04", "loop-one"]);
        assert_eq!(names("test07"), ["test07", "loop-all"]);
        assert_eq!(names("loop-one"), ["loop-one"]);
    }

    #[test]
    fn blocks_are_complete_shuffled_and_come_again_from_the_seed() {
        let blocks = order(16, 5, 7);
        assert_eq!(blocks, order(16, 5, 7));
        assert_ne!(blocks, order(16, 5, 8));
        assert_ne!(blocks[0], blocks[1]);
        for mut block in blocks {
            block.sort_unstable();
            assert_eq!(block, (0..16).collect::<Vec<_>>());
        }
    }
}
