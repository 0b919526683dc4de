"""Figures of the claims that people quote: what each says, under which conditions, and what became of it. Pure."""

from documents.experiments import claims_table, made
from documents.explanations import NOT_MEASURED
from documents.records import Records
from documents.tables import times
from tandem.record.window import Verdict
from tandem.report.markdown import table
from tandem.studies.reproduce.experiment import Claim, Experiment, published_ratio
from tandem.studies.reproduce.figures import FIGURES
from tandem.studies.reproduce.report import judged, judgement


def _conditions(claim: Experiment) -> str:
    """What all of its rows have in common."""
    names = {
        "db_rtt_ms": "database {} ms away",
        "delay_ms": "a wait of {} ms",
        "connections": "{} connections",
    }
    run = {name: value for name, value in claim.run.items() if name != "timeout_s"}
    settings = run.pop("settings", {})
    told = [names.get(name, f"{name} {{}}").format(value) for name, value in run.items()]
    return ", ".join([*told, *(f"`{name}={value}`" for name, value in settings.items())])


def _how_to(name: str) -> str:
    return f"{NOT_MEASURED.capitalize()}: `just reproduce {name} --plan wide`"


def _statement(text: str, verdict: str, ratio: str) -> str:
    return f"{text}: **{verdict}** {ratio}".strip()


def summary(records: Records) -> str:
    """A line for each claim."""
    rows = []
    for name, claim in records.claims().items():
        found = records.quoted(name)
        told = [
            _statement(one.text, judged(one), times(one.ratio))
            for one in (found.conclusions.claims if found else [])
        ]
        sentence = judgement(found.conclusions) if found else _how_to(name)
        if found and found.verdict is not Verdict.OK:
            sentence += f" (the record is {found.verdict})"
        rows.append(
            (
                f"[{claim.title}]({claim.source})",
                _conditions(claim),
                "<br>".join(told) or NOT_MEASURED,
                sentence,
            )
        )
    return table(("claim, with its source", "conditions", "verdicts", "in one sentence"), rows)


def details(records: Records) -> str:
    """Each claim: who says it, what would have to be seen, and every statement with the rows that it compares."""
    parts = []
    for name, claim in records.claims().items():
        found = records.quoted(name)
        parts += [
            f"## {claim.title} (`{name}`)",
            f"**Source.** [{claim.origin}]({claim.source}); {claim.published_host}.",
            f"**Hypothesis.** {claim.hypothesis}",
            f"**Conditions.** {_conditions(claim)}.",
        ]
        if found is None:
            rows = [_unmeasured(claim, own) for own in claim.claims]
            parts.append(table(("claim", "figure", "rows compared", "published>", "verdict"), rows))
            parts.append(f"{_how_to(name)}.")
        else:
            parts += [f"**Found.** {judgement(found.conclusions)}.", claims_table(found), made(found)]
            if found.verdict is not Verdict.OK:
                parts.append(f"The record is {found.verdict}: {found.reasons[0]}.")
    return "\n\n".join(parts)


def _unmeasured(experiment: Experiment, claim: Claim) -> tuple[str, ...]:
    published = published_ratio(experiment, claim)
    return (
        claim.text,
        FIGURES[claim.figure].title,
        f"{claim.of}<br>{claim.to}",
        "–" if published is None else f"× {published:,.2f}",
        NOT_MEASURED,
    )


def ratio(records: Records, name: str, figure: str, of: str, to: str) -> str:
    """Of two rows that a statement of a claim compares."""
    found = records.quoted(name)
    if found is None:
        return NOT_MEASURED
    rows = (one for one in found.conclusions.claims if (one.figure, one.of, one.to) == (figure, of, to))
    return times(next(rows).ratio)
