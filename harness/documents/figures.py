"""Every figure that a document may ask for: name -> function of the records and the mark's arguments."""

from documents import pairs, pictures, platforms, published, reports, selftest, services, statements
from documents.fill import Figure

PICTURES: dict[str, Figure] = {
    "docs/images/founding-experiment.svg": published.picture,
    "docs/images/light-beside-heavy.svg": pictures.mixes,
    "docs/images/nightly-detection.svg": pictures.nightly,
    "docs/images/statements.svg": statements.picture,
}
"""Drawn by `just docs` beside the figures."""
FIGURES: dict[str, Figure] = {
    # what all sessions say together
    "known": statements.known,
    "statements-table": statements.statements_table,
    "costs-table": statements.costs_table,
    "pairs-table": statements.pairs_table,
    "hit-rate": statements.hit_rate,
    "equal-images": statements.equal_images,
    "predicted-cells": statements.predicted_cells,
    # one record: its caption, what `just report` prints, and what its result has
    "one-session": statements.one_session,
    "single-sessions": statements.single_sessions,
    "table": reports.table,
    "cell": reports.cell,
    "across": reports.across,
    "lasted": reports.lasted,
    "contrasts": reports.contrasts,
    "with-itself": reports.with_itself,
    "value": reports.value,
    "claims": published.claims,
    "sentence": published.sentence,
    "quoted": published.quoted,
    # what implementations declare, and the self-test
    "pairs": pairs.all_pairs,
    "code-lines": pairs.code_lines,
    "platforms": platforms.platforms,
    "services": services.services,
    "selftest-checks": selftest.checks,
    "selftest-date": selftest.date,
    "selftest": selftest.found,
}
