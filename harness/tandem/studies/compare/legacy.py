"""Comparisons that an older Tandem made (campaign.json, compare.json, blocks/block-N.json), in today's schema. Pure but for
reading them."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from tandem.errors import TandemError
from tandem.judge.judge import verdict
from tandem.record.legacy import CAMPAIGN, OldEnvironment, read_campaign
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Environment, Result
from tandem.record.store import explained
from tandem.record.trial import Phase, Start, Trial, TrialSpec, WarmUp, WindowRecord, WindowSpec
from tandem.record.window import Finding, Verdict, Window
from tandem.studies.compare.conclusions import DUET, Compared, turn_name

RECORD = "compare.json"
VERSION = 1
TRIMS_S = (0.5, 0.25)
"""At the ends of a window: what every plan had."""
PHASES = {"build, start the stack": "build"}
"""Old name -> new name, where they differ."""


def read(folder: Path) -> tuple[Result[Compared], list[Trial]] | None:
    """The comparison of a folder; None if it has none that was finished. Raises TandemError, naming the file, for one
    that cannot be read."""
    file = folder / RECORD
    if not file.is_file():
        return None
    campaign = read_campaign(folder)
    if campaign is None:
        raise TandemError(f"{folder} has a {RECORD} and no {CAMPAIGN}, which says what was asked for")
    asked = campaign.request
    request = asked.migrated([_variant(label) for label in asked.implementations])
    trials = [_from(block, _trial) for block in sorted(folder.glob("blocks/*.json"))]
    trials.sort(key=lambda trial: trial.started_at)
    return _from(file, lambda old: _result(old, request, trials)), trials


def _from[T](file: Path, make: Callable[[dict[str, Any]], T]) -> T:
    """What a file holds. Raises TandemError, naming it."""
    try:
        return make(json.loads(file.read_text()))
    except (ValueError, OSError, KeyError, TypeError, AttributeError) as error:
        text = explained(error) if isinstance(error, ValueError) else repr(error)
        raise TandemError(f"{file}: the comparison of an older Tandem cannot be read: {text}") from None


def _variant(label: str) -> Variant:
    name, _, given = label.partition(":")
    settings = dict(pair.split("=", 1) for pair in given.split(",")) if given else {}
    return Variant(label=label, implementation=name, settings=settings)


# ---- a block ----


def _spec(name: str, labels: list[str], seconds: float) -> WindowSpec:
    return WindowSpec(
        name=name,
        variants=labels,
        seconds=round(seconds),
        trim_start_s=TRIMS_S[0],
        trim_end_s=TRIMS_S[1],
        settled=False,
    )


def _window(shot: dict[str, Any]) -> Window | None:
    return None if shot["window"] is None else Window.model_validate(shot["window"])


def _in_turn(shots: list[dict[str, Any]]) -> list[WindowRecord]:
    """A void window was made once more at once: it is of the same round."""
    out: list[WindowRecord] = []
    for shot in shots:
        label, window = shot["entrant"], _window(shot)
        name = turn_name(shot["round"], label)
        again = f"{name}.2" if any(record.spec.name == name for record in out) else name
        out.append(
            WindowRecord(
                spec=_spec(again, [label], window.duration_s if window else shot["seconds"]),
                windows={} if window is None else {label: window},
                refused=shot["refused"],
                duration_s=shot["seconds"],
            )
        )
    return out


def _together(shots: list[dict[str, Any]]) -> list[WindowRecord]:
    """One record for each time that all were loaded at once."""
    out = []
    for number in dict.fromkeys(shot["round"] for shot in shots):
        own = [shot for shot in shots if shot["round"] == number]
        windows = {shot["entrant"]: window for shot in own if (window := _window(shot)) is not None}
        lasts_s = next((window.duration_s for window in windows.values()), own[0]["seconds"])
        name = DUET if number == 1 else f"{DUET}-{number}"
        rates = {label: round(window.offered_rps) for label, window in windows.items() if window.offered_rps}
        together = {"load": "open", "address": "app:8080", "rates_rps": rates}
        spec = _spec(name, [shot["entrant"] for shot in own], lasts_s)
        out.append(
            WindowRecord(
                spec=spec.model_copy(update=together),
                windows=windows,
                refused=own[0]["refused"],
                duration_s=own[0]["seconds"],
            )
        )
    return out


def _trial(old: dict[str, Any]) -> Trial:
    windows = [*_in_turn(old["shots"]), *_together(old.get("duets", []))]
    starts = {label: Start(refused=old["refused"].get(label)) for label in old["starts"]}
    warm_up_s = int(old["phases_s"].get("warm up", 0.0) / len(starts))
    found = [
        finding for record in windows for window in record.windows.values() for finding in window.findings
    ]
    return Trial(
        spec=TrialSpec(
            name=f"block-{old['number']}",
            block=old["number"],
            variants=old["starts"],
            warm_up=WarmUp(least_s=warm_up_s, cap_s=warm_up_s),
            windows=[record.spec for record in windows],
        ),
        started_at=datetime.fromisoformat(old["started_at"]),
        verdict=verdict(found),
        starts=starts,
        windows=windows,
        phases=[Phase(name=PHASES.get(name, name), duration_s=s) for name, s in old["phases_s"].items()],
    )


# ---- the whole ----


def _environments(old: dict[str, Any], entries: list[dict[str, Any]]) -> dict[str, Environment]:
    """The reference's was kept whole; of the others, their settings."""
    first = OldEnvironment.model_validate(old).migrated()
    shared = first.model_copy(
        update={
            "images": {role: image for role, image in first.images.items() if role != "app"},
            "variables": {},
            "configuration": {},
            "hashes": {},
        }
    )
    out = {entries[0]["entrant"]: first}
    for one in entries[1:]:
        out[one["entrant"]] = shared.model_copy(update={"settings": one["knobs"]})
    return out


def _compared(findings: dict[str, Any], blocks: int) -> Compared:
    lines = [
        {"variant": one["entrant"], **{name: one[name] for name in one if name not in ("entrant", "knobs")}}
        for one in findings["entries"]
    ]
    return Compared.model_validate(
        {
            "reference": findings["reference"],
            "session": findings["verdict"],
            "blocks": blocks,
            "entries": lines,
            "same_against_itself": findings["same_against_itself"],
        }
    )


def _result(old: dict[str, Any], request: Request, trials: list[Trial]) -> Result[Compared]:
    if old["schema_version"] != VERSION:
        raise ValueError(f"schema_version is {old['schema_version']}, not {VERSION}")
    findings = old["findings"]
    found = _compared(findings, old["blocks"])
    worst = [v for v in (Verdict.FAILED, Verdict.INVALID) if any(line.verdict is v for line in found.entries)]
    reasons = findings["reasons"] or [f"{e.variant}: {reason}" for e in found.entries for reason in e.reasons]
    verdicts = [trial.verdict for trial in trials]
    return Result[Compared](
        id=old["campaign"],
        request=request,
        started_at=old["started_at"],
        finished_at=old["finished_at"],
        verdict=worst[0] if found.session is Verdict.OK and worst else found.session,
        reasons=reasons,
        findings=[Finding(code="unfit-machine", severity="warning", text=text) for text in old["warnings"]],
        trials={one: verdicts.count(one) for one in dict.fromkeys(verdicts)},
        baselines=Baselines(
            ceilings_rps=findings.get("ceilings_rps", {}), selftest=old["environment"].get("selftest")
        ),
        conclusions=found,
        phases_s={PHASES.get(name, name): seconds for name, seconds in old["phases_s"].items()},
        environments=_environments(old["environment"], findings["entries"]),
    )
