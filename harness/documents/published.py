"""Published experiments, and claims that people quote, beside what was found: from the one form of all records. Pure."""

from documents.records import Records
from documents.statements import conditions, source
from tandem.page.published import size
from tandem.record.conclusion import Contrast
from tandem.record.result import Publication
from tandem.record.window import Verdict
from tandem.report.markdown import pictures_in, table
from tandem.report.picture import svg
from tandem.wording import number, ratio_with_interval

EXPLAINED = "explanations/published-python"
BRIEFLY = {"stands": "As published", "not decided": "Not decided"}
"""Verdicts whose claims share a line: the report has their figures."""


def _publication(records: Records, folder: str) -> Publication:
    """What a record measured again. Raises ValueError for one of nothing that was published."""
    found: Publication | None = records.result(folder).conclusions.publication
    if found is None:
        raise ValueError(f"{folder} measures nothing that was published")
    return found


def sentence(records: Records, folder: str) -> str:
    """What became of a published experiment."""
    return _publication(records, folder).sentence


def claims(records: Records, *folders: str) -> str:
    """Every claim once, from the first record that has it, and how it was measured; a star marks the further records."""
    captions = [_made(records, folder) for folder in folders]
    starred = (f"\\* {caption}" for caption in captions[1:])
    return "\n\n".join([claims_table(records, *folders), captions[0], *starred])


def _made(records: Records, folder: str) -> str:
    """How thoroughly a record was measured, on what, when and from which sources."""
    result = records.result(folder)
    starts = max(one.n for one in result.conclusions.estimates)
    return f"One session: plan {result.request.plan}, {starts} fresh starts, {', '.join(source(result))}."


def claims_table(records: Records, *folders: str) -> str:
    """Every claim once: what is decided otherwise than published as a table, the rest by name."""
    found: dict[str, tuple[Contrast, str]] = {}
    for place, folder in enumerate(folders):
        for one in records.result(folder).conclusions.contrasts:
            if one.text is not None:
                found.setdefault(one.text, (one, " \\*" * (place > 0)))
    rows, named = [], {verdict: list[str]() for verdict in BRIEFLY}
    for text, (one, star) in found.items():
        verdict = one.word if size(one) in ("", "as published") else f"{one.word}, {size(one)}"
        if verdict in named:
            named[verdict].append(text.replace("<", "&lt;") + star)
            continue
        ours = ratio_with_interval(one.ratio, one.interval).removeprefix("× ").replace(" to ", "–")
        rows.append((text, number(one.published, 2), ours, f"{verdict}{star}"))
    heads = ("claim", "published ratio>", "ours (95 % interval)>", "verdict")
    lines = [f"{BRIEFLY[word]} ({len(texts)}): {'; '.join(texts)}." for word, texts in named.items() if texts]
    return "\n\n".join([table(heads, rows)] * bool(rows) + lines)


def quoted(records: Records, below: str) -> str:
    """Each claim in a folder of records: who says it, our conditions, and the verdict on every statement."""
    parts = []
    for folder in records.below(below):
        one, result = _publication(records, folder), records.result(folder)
        said = f"[{one.origin}]({one.source}); {one.published_host}. Ours: {conditions(result)}."
        failed = (
            "" if result.verdict is Verdict.OK else f" The record is {result.verdict}: {result.reasons[0]}."
        )
        parts += [f"## {one.title} (`{one.name}`)", said, claims(records, folder) + failed]
    return "\n\n".join(parts)


def picture(records: Records) -> str:
    """The picture of the founding experiment's explanation that is a file as well, as SVG."""
    study, result, _ = records.read(EXPLAINED)
    return next(svg(one) for one in pictures_in(study.report(result)) if one.file)
