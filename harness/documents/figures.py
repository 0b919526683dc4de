"""Every figure that a document may ask for: name -> function of the records and the mark's arguments."""

from collections.abc import Callable

from documents import (
    bench,
    comparisons,
    crossovers,
    deciding,
    experiments,
    nightly,
    pairs,
    printed,
    reports,
    scale,
    selftest,
    statements,
    verification,
)
from documents.fill import Figure
from documents.records import Records

PICTURES: dict[str, Callable[[Records], str]] = {
    "docs/images/founding-experiment.svg": experiments.founding_picture,
    "docs/images/nightly-detection.svg": nightly.picture,
    "docs/images/statements.svg": statements.picture,
}
"""Drawn by `just docs` beside the figures."""
FIGURES: dict[str, Figure] = {
    # statements
    "known": statements.known,
    "statements-table": statements.statements_table,
    "costs-table": statements.costs_table,
    "pairs-table": statements.pairs_table,
    "one-session": statements.one_session,
    "single-sessions": statements.single_sessions,
    # any record, as `just report` prints it
    "table": reports.table,
    "cell": reports.cell,
    "across": reports.across,
    "lasted": reports.lasted,
    # the reference bench
    "reference-length": bench.length,
    "reference-goodput": bench.goodput,
    "reference-cpu": bench.cpu,
    "reference-steal": bench.steal,
    "reference-hiccup-cost": bench.hiccup_cost,
    "reference-in-flight": bench.in_flight,
    # published experiments
    "claims": experiments.claims,
    "sentence": experiments.sentence,
    # comparisons
    "compared": comparisons.compared,
    "compared-verdict": comparisons.word,
    "setting": comparisons.setting,
    "compared-mean": comparisons.mean,
    "decided": deciding.decided,
    "prediction-coverage": deciding.prediction_coverage,
    "window-length": deciding.window_length,
    # crossovers
    "crossed": crossovers.cells,
    "crossed-told": crossovers.told,
    "quoted": experiments.quoted,
    # what verification costs
    "verification-on-the-wire": verification.on_the_wire,
    "verification-of-a-start": verification.of_a_start,
    # sources
    "pairs": pairs.all_pairs,
    # the nightly's judge
    "detection": nightly.detection,
    "detection-series": nightly.series,
    "detection-family": nightly.family,
    "detection-family-delays": nightly.family_delays,
    "detection-family-size": nightly.family_size,
    "injected-slowdown": nightly.injected,
    # what benchmarks print
    "printed": printed.printed,
    # several machines
    "scale": scale.table,
    "scale-merging": scale.merging,
    "scale-visit": scale.visit,
    # the self-test
    "selftest-checks": selftest.checks,
    "selftest-count": selftest.number,
    "selftest-date": selftest.date,
    "selftest": selftest.found,
}
