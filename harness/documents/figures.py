"""Every figure that a document may ask for: name -> function of the records and the mark's arguments."""

from collections.abc import Callable

from documents import (
    bench,
    comparisons,
    crossovers,
    deciding,
    experiments,
    explanations,
    nightly,
    pairs,
    printed,
    quoted,
    scale,
    selftest,
    statements,
    verification,
)
from documents.fill import Figure
from documents.records import Records

PICTURES: dict[str, Callable[[Records], str]] = {
    "docs/images/founding-experiment.svg": explanations.picture,
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
    # the reference bench
    "reference-table": bench.reference_table,
    "reference-length": bench.length,
    "questions-table": bench.questions_table,
    "application-bound": bench.application_bound,
    "reference-goodput": bench.goodput,
    "reference-cpu": bench.cpu,
    "reference-cpu-mean": bench.cpu_mean,
    "reference-steal": bench.steal,
    "reference-shared-cpus": bench.shared_cpus,
    "reference-app-share": bench.app_share,
    "reference-ceiling": bench.ceiling,
    "reference-hiccup-cost": bench.hiccup_cost,
    "reference-in-flight": bench.in_flight,
    # published experiments
    "experiments": experiments.summary,
    "claims": experiments.claims,
    "sentence": experiments.sentence,
    "mean": experiments.mean,
    "published": experiments.published,
    "ratio": experiments.ratio,
    "published-ratio": experiments.published_ratio,
    "claim": experiments.word,
    "of-ceiling": experiments.of_ceiling,
    "span": experiments.least_and_greatest,
    "held": experiments.held,
    # comparisons
    "compared-table": comparisons.compared_table,
    "compared": comparisons.compared,
    "compared-verdict": comparisons.word,
    "compared-mode": comparisons.by_mode,
    "setting": comparisons.setting,
    "compared-mean": comparisons.mean,
    "compared-length": comparisons.length,
    "decided": deciding.decided,
    "prediction-coverage": deciding.prediction_coverage,
    "window-length": deciding.window_length,
    # explained gaps
    "explained": explanations.told,
    "explained-factors": explanations.factors,
    "explained-model": explanations.model,
    "explained-factor": explanations.factor,
    "explained-cpu": explanations.cpu_factor,
    "explained-leg": explanations.leg,
    "explained-rate": explanations.rate,
    "explained-trips": explanations.trips,
    "founding-gaps": explanations.gaps,
    # crossovers
    "crossed": crossovers.cells,
    "crossed-told": crossovers.told,
    "crossed-at": crossovers.at,
    "crossed-pairs": crossovers.pairs,
    # claims that people quote
    "quoted": quoted.summary,
    "quoted-ratio": quoted.ratio,
    "quoted-details": quoted.details,
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
