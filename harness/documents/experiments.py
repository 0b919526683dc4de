"""Figures of the published experiments and of their results here. Pure."""

from documents.records import Records
from documents.tables import percent, span, times
from tandem.record.result import Result
from tandem.report.markdown import table
from tandem.report.parts import machine
from tandem.studies.reproduce.claims import ClaimResult
from tandem.studies.reproduce.conclusions import Reproduced, RowResult
from tandem.studies.reproduce.figures import FIGURES
from tandem.studies.reproduce.report import counted, judged


def _row(found: Result[Reproduced], label: str) -> RowResult:
    return next(row for row in found.conclusions.rows if row.label == label)


def _claim(found: Result[Reproduced], figure: str, of: str, to: str) -> ClaimResult:
    return next(
        claim for claim in found.conclusions.claims if (claim.figure, claim.of, claim.to) == (figure, of, to)
    )


def mean(records: Records, folder: str, figure: str, label: str) -> str:
    """Of a row's fresh starts, with its unit."""
    return FIGURES[figure].text(_row(records.reproduction(folder), label).figures[figure].mean)


def published(records: Records, name: str, figure: str, label: str) -> str:
    """What the document has, with its unit."""
    return FIGURES[figure].text(records.experiments()[name].row(label).published[figure])


def ratio(records: Records, folder: str, figure: str, of: str, to: str) -> str:
    """Our ratio of two rows that a claim compares."""
    return times(_claim(records.reproduction(folder), figure, of, to).ratio)


def published_ratio(records: Records, folder: str, figure: str, of: str, to: str) -> str:
    """The document's ratio of the same."""
    value = _claim(records.reproduction(folder), figure, of, to).published
    if value is None:
        raise ValueError("no ratio is published")
    return f"× {value:,.2f}"


def word(records: Records, folder: str, figure: str, of: str, to: str) -> str:
    """What became of a claim."""
    return judged(_claim(records.reproduction(folder), figure, of, to))


def of_ceiling(records: Records, folder: str, ceiling: str, label: str) -> str:
    """The share of a model's value that a row reaches."""
    row = _row(records.reproduction(folder), label)
    return percent(row.figures["goodput_rps"].mean / row.ceilings[ceiling])


def least_and_greatest(records: Records, folder: str, figure: str, words: str = "") -> str:
    """Over the rows that have the figure, and these words in their label."""
    rows = records.reproduction(folder).conclusions.rows
    values = [row.figures[figure].mean for row in rows if words in row.label and figure in row.figures]
    return span(values, FIGURES[figure].digits)


def held(records: Records, folder: str) -> str:
    """The connections of wrk and oha that were open in every row, and how many failed."""
    rows = [
        row for row in records.reproduction(folder).conclusions.rows if row.settings["tool"] in ("wrk", "oha")
    ]
    opened = min(min(float(row.settings["connections"]), row.figures["established"].mean) for row in rows)
    failed = sum(row.figures[name].mean for row in rows for name in ("connect_errors", "errors"))
    failures = f"{failed:,.0f}" if failed else "none"
    return f"{opened:,.0f} connections were open in every row of wrk and oha, and {failures} failed"


def sentence(records: Records, name: str) -> str:
    """The conclusion, from the experiment's file."""
    return records.experiments()[name].sentence


def starts(found: Reproduced) -> str:
    return f"plan {found.plan}, {found.settings.starts} fresh starts"


def made(found: Result[Reproduced]) -> str:
    """How thoroughly, when, on what and from which sources."""
    commits = sorted({one.git_commit[:7] for one in found.environments.values() if one.git_commit})
    commit = f", commit {' and '.join(commits)}" if commits else ""
    return f"One session: {starts(found.conclusions)}, {found.started_at:%Y-%m-%d}, {machine(found)}{commit}."


def claims(records: Records, folder: str) -> str:
    """Every claim of an experiment, and how it was made."""
    found = records.reproduction(folder)
    return f"{claims_table(found)}\n\n{made(found)}"


def claims_table(found: Result[Reproduced]) -> str:
    """Every claim with the rows that it compares, what was published and what we found."""

    def compared(claim: ClaimResult) -> str:
        figure = FIGURES[claim.figure]
        rows = [_row(found, label) for label in (claim.of, claim.to)]
        means = ((row.label, row.figures.get(claim.figure)) for row in rows)
        return "<br>".join(f"{label}: {figure.text(mean.mean) if mean else '–'}" for label, mean in means)

    rows = [
        (
            f"{claim.text} ({claim.host})" if claim.host else claim.text,
            FIGURES[claim.figure].title,
            compared(claim),
            "–" if claim.published is None else f"× {claim.published:,.2f}",
            times(claim.ratio),
            judged(claim),
        )
        for claim in found.conclusions.claims
    ]
    headings = ("claim", "figure", "rows compared, ours", "published>", "ours (95 % interval)>", "verdict")
    return table(headings, rows)


def summary(records: Records) -> str:
    """Every result: how thoroughly it was measured, and what became of the claims."""
    rows = []
    for folder in records.reproductions():
        found = records.reproduction(folder).conclusions
        title = records.experiments()[found.experiment].title
        rows.append((f"`{folder}`", title, starts(found), counted(found.claims)))
    return table(("result", "what is compared", "measured", "claims"), rows)
