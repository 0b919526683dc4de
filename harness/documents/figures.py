"""Every figure that a document may ask for: name -> function of the records and the mark's arguments."""

from collections.abc import Callable

from documents import (
    deciding,
    experiments,
    nightly,
    pairs,
    reports,
    selftest,
    statements,
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
    "contrasts": reports.contrasts,
    "value": reports.value,
    # published experiments
    "claims": experiments.claims,
    "sentence": experiments.sentence,
    "decided": deciding.decided,
    "window-length": deciding.window_length,
    "quoted": experiments.quoted,
    "pairs": pairs.all_pairs,
    # the self-test
    "selftest-checks": selftest.checks,
    "selftest-count": selftest.number,
    "selftest-date": selftest.date,
    "selftest": selftest.found,
}
