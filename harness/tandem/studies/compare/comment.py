"""A comparison as a comment on a pull request: what a change costs, in a few lines of Markdown. Pure."""

from collections.abc import Iterator

from tandem.analysis.cost import AT, TOTAL, at
from tandem.facts.metric import GOODPUT, MEMORY, OFFERED, P99, metric
from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.report.markdown import of_terminal, table
from tandem.report.parts import conditions_line
from tandem.report.table import STATEMENT_TITLE, statements
from tandem.studies.compare.conclusions import Compared
from tandem.studies.compare.report import effect, failed_control, told
from tandem.wording import counted, limited_by, number

WORSE = ("dearer", "slower")
TAILS_AT = (0.6, 0.8)


def beyond_budget(found: Compared, limit: float) -> list[str]:
    """A sentence for each variant that is decided to be worse than the reference by more than a share of the primary metric: all of
    its interval lies beyond."""
    name, out = found.primary or TOTAL, []
    for label in found.others:
        one = found.contrast(label, name)
        if one is None or one.interval is None or one.word not in WORSE:
            continue
        least = one.interval[0] if metric(name).better == "less" else 1 / one.interval[1]
        if least > 1 + limit:
            out.append(f"{label}, {metric(name).title}: {told(one)}, which is beyond {limit * 100:g} %")
    return out


def comment(result: Result[Compared]) -> str:
    """The whole comment."""
    found = result.conclusions
    parts = [f"### {', '.join(found.others) or found.reference} against {found.reference}"]
    if result.verdict is not Verdict.OK:
        reasons = [f"- {reason}" for reason in result.reasons[:3]]
        parts.append(
            "\n".join([f"**This comparison is {result.verdict}: its figures decide nothing.**", *reasons])
        )
    parts += [said for said in [failed_control(found)] if said]
    parts += [
        table(["", f"{found.reference}>", f"{label}>", "95 % interval"], _rows(found, label))
        for label in found.others
    ]
    parts += map(of_terminal, statements(found, STATEMENT_TITLE))
    limits = "; ".join(f"{label}: limited by {limited_by(found.limit(label))}" for label in found.variants)
    smallest = effect(found, found.primary or TOTAL)
    parts.append(f"{smallest[0].upper()}{smallest[1:]}. {limits}.")
    parts.append(
        f"{counted(found.blocks, 'blocks')} of fresh starts; {conditions_line(result.request)}. Ratios travel between machines; figures do not."
    )
    parts += [finding.text for finding in result.findings if finding.code == "baseline-answers"]
    return "\n\n".join(parts)


def _rows(found: Compared, label: str) -> Iterator[list[str]]:
    tails = [at(P99, share) for share in TAILS_AT]
    for name in dict.fromkeys([found.primary or TOTAL, *tails, MEMORY, GOODPUT]):
        means = [found.mean(one, name) for one in (found.reference, label)]
        rate = found.mean(label, at(OFFERED, float(name.rpartition(AT)[2]) / 100)) if AT in name else None
        at_rate = f" at {number(rate)}/s" if rate else ", full load" if name in (TOTAL, GOODPUT) else ""
        one = found.contrast(label, name)
        said = "too few requests" if name in tails and None in means else "" if one is None else told(one)
        shown = metric(name.partition(AT)[0])
        yield [f"{shown.title}{at_rate}, {shown.unit}", *(number(mean, shown.digits) for mean in means), said]
