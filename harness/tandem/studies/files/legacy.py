"""Reads what Tandem left of an experiment with files before schema 3 (reproduction.json) as a result of today."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, Literal

from tandem.errors import TandemError
from tandem.record.request import Request, Variant
from tandem.record.result import Result
from tandem.record.store import explained
from tandem.record.trial import Start, Trial, TrialSpec, WarmUp
from tandem.record.window import Finding, Verdict
from tandem.studies.files.document import Counting
from tandem.studies.files.spec import FilesRun, lines_made, percent_of, request_with, variant
from tandem.studies.reproduce import legacy
from tandem.studies.reproduce.conclusions import Reproduced, RowResult, RowTrial


def migrated(folder: Path) -> tuple[Result[Reproduced], list[Trial]] | None:
    """The result in a folder and its trials; None: there is none of this study's. Raises TandemError, naming the file."""
    file = folder / legacy.FILE
    if not file.is_file():
        return None
    try:
        old: dict[str, Any] = json.loads(file.read_text())
        if old["kind"] != "files":
            return None
        found = legacy.result(old, folder.name)
        trials = trials_of(found)
        counts = dict(Counter(trial.verdict for trial in trials))
        return found.model_copy(update={"request": _request(found), "trials": counts}), trials
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TandemError(f"{file}: the record cannot be read: {explained(error)}") from None


def trials_of(old: Result[Reproduced]) -> list[Trial]:
    """Its containers: rows that have the same raw file were measured in one. When each began was not recorded."""
    found: dict[str, Trial] = {}
    for one in (one for row in old.conclusions.rows for one in row.trials):
        name = Path(one.trial or f"{one.block}-{one.row}").stem
        trial = found.setdefault(name, _trial(name.removesuffix("-again"), one, old))
        trial.spec.variants.append(one.row)
        start = trial.starts[one.row] = Start()
        start.findings = [
            Finding(code="not-measured", severity="warning", text=text) for text in one.warnings
        ]
        if one.verdict is Verdict.OK:
            counted = Counting(figures=one.figures, bottleneck=one.bottleneck, evidence=one.evidence)
            trial.facts[one.row] = counted.model_dump(mode="json")
            continue
        trial.verdict = one.verdict
        severity: Literal["void", "invalid"] = "void" if one.verdict is Verdict.VOID else "invalid"
        start.findings.append(Finding(code=str(one.verdict), severity=severity, text=one.reason or ""))
    return [found[name] for name in sorted(found)]


def _trial(name: str, one: RowTrial, old: Result[Reproduced]) -> Trial:
    spec = TrialSpec(
        name=name, block=one.block, variants=[], warm_up=WarmUp(least_s=0, cap_s=0), attempt=one.attempt
    )
    return Trial(spec=spec, started_at=old.started_at, verdict=Verdict.OK)


def _request(old: Result[Reproduced]) -> Request:
    """As it would be asked for today."""
    found, percent = old.conclusions, percent_of(old.conclusions.settings)
    variants = [_variant(row, percent) for row in found.rows]
    return request_with(
        variants, found.experiment, found.experiment, found.digest, found.plan, old.request.seed
    )


def _variant(row: RowResult, percent: int) -> Variant:
    told: dict[str, Any] = dict(row.settings)
    run = FilesRun(
        way=told["way"],
        files=told["files"],
        lines=told["lines"].rpartition(" of ")[2].replace(",", ""),
        buffer_bytes=told["buffer"].removesuffix(" bytes"),
        cache=told["cache"],
    )
    return variant(row.label, run, lines_made(run, percent))
