"""Figures of the published experiments and of their results here. Pure."""

from documents.records import Records
from documents.statements import source
from documents.tables import times
from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.report.markdown import table
from tandem.report.picture import svg
from tandem.studies.explain.pictures import pictures
from tandem.studies.reproduce.conclusions import JudgedClaim, Reproduced
from tandem.studies.reproduce.experiment import Experiment
from tandem.studies.reproduce.report import judged


def sentence(records: Records, name: str) -> str:
    """The conclusion, from the experiment's file."""
    return records.experiments()[name].sentence


def made(found: Result[Reproduced]) -> str:
    """How thoroughly, on what, when and from which sources."""
    plan, starts = found.conclusions.plan, found.conclusions.starts
    return f"One session: plan {plan}, {starts} fresh starts, {', '.join(source(found))}."


def claims(records: Records, folder: str, *further: str) -> str:
    """Every claim of an experiment once, and how it was measured. further: results whose claims are added, with a star, where
    the first lacks them."""
    first, *others = [records.reproduction(one) for one in (folder, *further)]
    return "\n\n".join([claims_table(first, *others), made(first), *(f"\\* {made(one)}" for one in others)])


BRIEFLY = {"stands": "As published", "not decided": "Not decided"}
"""Verdicts whose claims share a line: the report has their figures."""


def claims_table(*results: Result[Reproduced]) -> str:
    """Every claim once, from the first result that has it: what is decided otherwise than published as a table, the rest by name."""
    found: dict[tuple[str | None, str | None], tuple[JudgedClaim, str]] = {}
    for number, result in reversed([*enumerate(results)]):
        found |= {
            (one.found.text, one.claim.host): (one, " \\*" * (number > 0))
            for one in result.conclusions.judged
        }
    rows, named = [], {verdict: list[str]() for verdict in BRIEFLY}
    for one, star in found.values():
        text = f"{one.found.text} ({one.claim.host})" if one.claim.host else f"{one.found.text}"
        verdict = judged(one)
        if verdict.partition(" (")[0] in named:
            named[verdict.partition(" (")[0]].append(text.replace("<", "&lt;") + star)
            continue
        published = "–" if one.found.published is None else f"{one.found.published:,.2f}"
        ours = times(one.found).removeprefix("× ").replace(" to ", "–")
        rows.append((text, published, ours, f"{verdict}{star}"))
    heads = ("claim", "published ratio>", "ours (95 % interval)>", "verdict")
    lines = [
        f"{BRIEFLY[verdict]} ({len(texts)}): {'; '.join(texts)}." for verdict, texts in named.items() if texts
    ]
    return "\n\n".join([table(heads, rows)] * bool(rows) + lines)


# ---- claims that people quote ----

CONDITIONS = {
    "db_rtt_ms": "database {} ms away",
    "delay_ms": "a wait of {} ms",
    "connections": "{} connections",
}


def _conditions(claim: Experiment) -> str:
    """What all of its rows have in common."""
    own = {**claim.variant, **claim.window}
    settings, changes = own.pop("settings", {}), own.pop("scenario_changes", {})
    run = {name: value for name, value in {**own, **changes}.items() if name != "timeout_s"}
    told = [CONDITIONS.get(name, f"{name} {{}}").format(value) for name, value in run.items()]
    return ", ".join([*told, *(f"`{name}={value}`" for name, value in settings.items())])


def quoted(records: Records) -> str:
    """Each claim: who says it, our conditions, and the verdict on every statement."""
    parts = []
    for name, claim in records.claims().items():
        found = records.quoted(name)
        parts += [
            f"## {claim.title} (`{name}`)",
            f"[{claim.origin}]({claim.source}); {claim.published_host}. Ours: {_conditions(claim)}.",
            f"Not measured: `just reproduce {name} --plan wide`." if found is None else claims_table(found),
        ]
        if found is not None:
            failed = (
                "" if found.verdict is Verdict.OK else f" The record is {found.verdict}: {found.reasons[0]}."
            )
            parts.append(made(found) + failed)
    return "\n\n".join(parts)


def founding_picture(records: Records) -> str:
    """From sync Python's goodput to async Python's, a step for each factor, as SVG."""
    return next(svg(one) for one in pictures(records.read("explanations/published-python")[0]) if one.file)
