"""Reads what Tandem left of an experiment with files before schema 3: reproduction.json."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from tandem.errors import TandemError
from tandem.record.request import Request
from tandem.record.result import Baselines, Environment, Result
from tandem.record.trial import Phase, Start, Trial, TrialSpec, WarmUp
from tandem.record.window import Finding, Verdict
from tandem.studies.files.conclusions import Counted, CountedRow
from tandem.studies.files.document import Counting
from tandem.studies.files.spec import NO_STACK, FilesRun, lines_made, variant
from tandem.studies.reproduce.claims import ClaimResult

RECORD = "reproduction.json"
Json = dict[str, Any]


def migrated(folder: Path) -> tuple[Result[Counted], list[Trial]] | None:
    """The record in today's schema; None: there is none of an experiment with files.

    Raises TandemError, naming the file, for one that cannot be read.
    """
    file = folder / RECORD
    if not file.is_file():
        return None
    try:
        old: Json = json.loads(file.read_text())
        if old["kind"] != "files":
            return None
        trials = trials_of(old)
        return _result(old, folder.name, trials), trials
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TandemError(f"{file}: the record cannot be read: {error!r}") from None


def _result(old: Json, name: str, trials: list[Trial]) -> Result[Counted]:
    percent: int = old["settings"]["limits"].get("lines_percent", 100)
    return Result[Counted](
        id=name,
        request=_request(old, percent),
        started_at=old["started_at"],
        finished_at=old["finished_at"],
        verdict=old["verdict"],
        reasons=old["reasons"],
        findings=[],
        trials={v: n for v in Verdict if (n := sum(trial.verdict is v for trial in trials))},
        baselines=Baselines(),
        conclusions=Counted(
            **{
                key: old[key]
                for key in (
                    "experiment",
                    "title",
                    "origin",
                    "published_host",
                    "digest",
                    "columns",
                    "sentence",
                )
            },
            starts=old["settings"]["starts"],
            lines_percent=percent,
            rows=[_row(row) for row in old["rows"]],
            claims=[ClaimResult.model_validate(claim) for claim in old["claims"]],
        ),
        phases_s={
            {"builds": "build"}.get(phase, phase): seconds for phase, seconds in old["spent_s"].items()
        },
        environments={what: _environment(one) for what, one in old["environment"].items()},
    )


def _request(old: Json, percent: int) -> Request:
    """As it would be asked for today."""
    rows = []
    for row in old["rows"]:
        told = row["settings"]
        run = FilesRun(
            way=told["way"],
            files=told["files"],
            lines=told["lines"].rpartition(" of ")[2].replace(",", ""),
            buffer_bytes=told["buffer"].removesuffix(" bytes"),
            cache=told["cache"],
        )
        rows.append(variant(row["label"], run, lines_made(run, percent)))
    return Request(
        study="files",
        variants=rows,
        scenario=old["experiment"],
        conditions=NO_STACK,
        plan=old["plan"],
        seed=old["seed"],
        options={"experiment": old["experiment"], "digest": old["digest"]},
    )


def _row(row: Json) -> CountedRow:
    same = ("label", "note", "published", "published_elsewhere", "settings", "figures", "bottleneck")
    return CountedRow(
        **{key: row[key] for key in same},
        starts=len(row["starts"]),
        starts_ok=sum(start["verdict"] == "ok" for start in row["starts"]),
        warnings=list(dict.fromkeys(text for start in row["starts"] for text in start["warnings"])),
    )


def _environment(old: Json) -> Environment:
    left_out = ("knobs", "selftest")
    return Environment(
        **{key: value for key, value in old.items() if key not in left_out}, settings=old["knobs"]
    )


def trials_of(old: Json) -> list[Trial]:
    """Its containers: the starts of rows that have the same raw file. When each began was not recorded."""
    found: dict[str, list[Json]] = {}
    for row in old["rows"]:
        for start in row["starts"]:
            key = start["raw"] or f"{start['block']} {row['label']}"
            found.setdefault(key, []).append(start)
    began = datetime.fromisoformat(old["started_at"])
    return [_trial(key, starts, began) for key, starts in sorted(found.items())]


def _trial(key: str, starts: list[Json], began: datetime) -> Trial:
    trial = Trial(
        spec=TrialSpec(
            name=Path(key).stem.removesuffix("-again"),
            block=starts[0]["block"],
            variants=[start["row"] for start in starts],
            warm_up=WarmUp(least_s=0, cap_s=0),
            attempt=starts[0]["attempts"],
        ),
        started_at=began,
        verdict=Verdict.OK,
    )
    for start in starts:
        verdict = Verdict(start["verdict"])
        findings = [Finding(code="not-measured", severity="warning", text=text) for text in start["warnings"]]
        if verdict is Verdict.OK:
            counted = Counting(**{name: start[name] for name in ("figures", "bottleneck", "evidence")})
            trial.facts[start["row"]] = counted.model_dump(mode="json")
        else:
            trial.verdict = verdict
            severity: Literal["void", "invalid"] = "void" if verdict is Verdict.VOID else "invalid"
            findings.append(Finding(code=str(verdict), severity=severity, text=start["reason"] or ""))
        trial.starts[start["row"]] = Start(findings=findings)
        for phase, seconds in start["spent_s"].items():
            _add(trial.phases, phase, seconds)
    return trial


def _add(phases: list[Phase], name: str, seconds: float) -> None:
    for phase in phases:
        if phase.name == name:
            phase.duration_s += seconds
            return
    phases.append(Phase(name=name, duration_s=seconds))
