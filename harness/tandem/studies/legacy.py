"""Records of older versions, in which each command had a form of its own, read as today's. Pure but for reading them.

What they called knobs are settings, entrants and implementations are variants. What they did not hold is left out, and a
finding says so.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from tandem.catalog.catalog import Plan
from tandem.errors import TandemError
from tandem.judge.judge import verdict
from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Baselines, Conclusions, Environment, Result
from tandem.record.store import explained
from tandem.record.trial import Phase, Start, Trial, TrialSpec, WarmUp, WindowRecord, WindowSpec
from tandem.record.window import Finding, Verdict, Window
from tandem.studies.bench.conclusions import Benched, Row, Summary, round_trip, worst
from tandem.studies.bench.study import warm_up_of
from tandem.studies.capacity.conclusions import Behaviour, CapacityFound
from tandem.studies.capacity.judged import Judged
from tandem.studies.capacity.search import Slo
from tandem.studies.ceiling.conclusions import Ceilings
from tandem.studies.compare.conclusions import DUET, Compared, turn_name
from tandem.studies.crosscheck.conclusions import CrossChecked
from tandem.studies.files.document import Counting
from tandem.studies.files.spec import FilesRun, lines_made, percent_of, request_with, variant
from tandem.studies.reproduce.conclusions import Reproduced, RowResult, RowTrial
from tandem.studies.reproduce.report import headline
from tandem.studies.sweep.conclusions import Curve, Swept

type Raw = dict[str, Any]
type Old = tuple[Result[Any], list[Trial]]

CAMPAIGN, RUN = "campaign.json", "run.json"
VERSIONS = {CAMPAIGN: (1, 2), RUN: (1, 2)}
"""Of the forms that had a second one."""
NO_WARM_UP = WarmUp(least_s=0, cap_s=0)
"""It was not recorded."""


def read(folder: Path) -> Old | None:
    """The result in a folder that an older Tandem left, and its trials; None: there is none.

    Raises TandemError, naming the file, for one that cannot be read.
    """
    for pattern, convert in FORMS:
        if files := sorted(folder.glob(pattern)):
            return convert(folder, files)
    return None


def _from[T](file: Path, convert: Callable[[Raw], T]) -> T:
    """What a file becomes. Raises TandemError, naming it."""
    try:
        raw: Raw = json.loads(file.read_text())
        version = raw.get("schema_version", 1)
        if version not in VERSIONS.get(file.name, (1,)):
            raise ValueError(f"schema version {version} is not known")
        return convert(raw)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        text = f"{error.args[0]} is missing" if isinstance(error, KeyError) else explained(error)
        raise TandemError(f"{file}: the record cannot be read: {text}.") from None


def _alone(convert: Callable[[Path, Raw], Old]) -> Callable[[Path, list[Path]], Old]:
    """For a form that is one file."""
    return lambda folder, files: _from(files[0], lambda raw: convert(folder, raw))


# ---- what the forms share ----


def _known(raw: Raw, fields: Collection[str]) -> Raw:
    return {name: value for name, value in raw.items() if name in fields}


def _variants(names: Sequence[str]) -> list[Variant]:
    return [Variant(label=name, implementation=name) for name in names]


def _request(study: str, raw: Raw, variants: list[Variant], **more: Any) -> Request:
    return Request(
        study=study,
        variants=variants,
        scenario=raw["scenario"],
        conditions=Conditions(
            topology=raw["topology"], placement=raw["placement"], db_rtt_ms=raw.get("db_rtt_ms")
        ),
        plan=raw.get("plan", "ceiling"),  # the default of those that did not record it
        seed=raw.get("seed", 0),
        settings=raw.get("knobs", {}),
        **more,
    )


def _environment(raw: Raw) -> Environment:
    return Environment(**_known(raw, Environment.model_fields), settings=raw["knobs"])


def _result(name: str, raw: Raw, request: Request, conclusions: Conclusions, **more: Any) -> Result[Any]:
    """raw: has its times, and its verdict and reasons unless `more` does. more: fields of the result."""
    environments: dict[str, Raw] = more.pop("environments", {})
    selftest = next((own.get("selftest") for own in environments.values()), None)
    fields: Raw = {
        "findings": [],
        "trials": {},
        "reasons": raw.get("reasons"),
        "verdict": raw.get("verdict"),
        "finished_at": raw.get("finished_at", raw["started_at"]),
        "phases_s": raw.get("phases_s", {}),
        "baselines": Baselines(ceilings_rps=raw.get("ceilings_rps", {}), selftest=selftest),
        "environments": {label: _environment(own) for label, own in environments.items()},
        **more,
    }
    kind: Any = Result[type(conclusions)]  # type: ignore[misc]
    made: Result[Any] = kind(
        id=name, request=request, started_at=raw["started_at"], conclusions=conclusions, **fields
    )
    return made


def _incomplete(what: str) -> list[Finding]:
    """what: the old record did not hold."""
    text = f"an older Tandem wrote this record: {what}"
    return [Finding.of("old-record", "warning", text)]


def _counts(trials: Sequence[Trial]) -> dict[Verdict, int]:
    return dict(Counter(trial.verdict for trial in trials))


def _gravest(ok: Verdict, verdicts: Collection[Verdict]) -> Verdict:
    """Of a session that is `ok` or worse by itself."""
    wrong = [one for one in (Verdict.FAILED, Verdict.INVALID) if one in verdicts]
    return wrong[0] if wrong and ok is Verdict.OK else ok


# ---- bench: campaign.json, and a run.json for each implementation ----


def _bench(folder: Path, files: list[Path]) -> Old:
    runs = sorted((_from(file, _run) for file in files), key=lambda run: run[1].label)
    raws, rows = [run[0] for run in runs], [run[1] for run in runs]
    trials = sorted((trial for run in runs for trial in run[2]), key=lambda trial: trial.started_at)
    first = raws[0]
    asked = {
        **first,
        "implementations": [row.label for row in rows],
        "db_rtt_ms": first["environment"]["variables"].get("DB_RTT_MS"),
    }
    if (folder / CAMPAIGN).is_file():
        asked = _from(folder / CAMPAIGN, lambda raw: dict(raw["request"]))
    phases_s = Counter[str]()
    for phase in (phase for trial in trials for phase in trial.phases):
        phases_s[phase.name] += phase.duration_s  # type: ignore[assignment]
    result = _result(
        first["campaign"],
        first,
        _request("bench", asked, _variants(asked["implementations"])),
        Benched(rows=rows),
        finished_at=max(datetime.fromisoformat(raw["finished_at"]) for raw in raws),
        verdict=worst(row.verdict for row in rows),
        reasons=[f"{row.label}: {reason}" for row in rows for reason in row.reasons],
        trials=_counts(trials),
        phases_s=dict(phases_s),
        environments={raw["implementation"]: raw["environment"] for raw in raws},
    )
    return result, trials


def _run(raw: Raw) -> tuple[Raw, Row, list[Trial]]:
    label, plan = raw["implementation"], raw["environment"].get("configuration", {}).get("plan")
    trials = [
        _fresh_start(old, label, Plan.model_validate_json(plan) if plan else None) for old in raw["trials"]
    ]
    row = Row(
        label=label,
        findings=[Finding(severity="warning", **one) for one in raw["warnings"]],
        summary=Summary.model_validate(raw["summary"]),
        db_rtt=round_trip(trials),
        **_known(raw, ("verdict", "reasons", "bottleneck", "bottleneck_evidence")),
    )
    return raw, row, trials


def _fresh_start(old: Raw, label: str, plan: Plan | None) -> Trial:
    """plan: None where the record does not hold it. A start that was made once more for another is its second attempt."""
    again, took_s = old.get("retry_of"), {one["name"]: one["duration_s"] for one in old.get("phases", [])}
    windows: list[WindowRecord] = []
    for name in ("closed", "open"):
        if (found := old.get(name)) is not None:
            window = Window.model_validate(found)
            rate = window.offered_rps
            spec = WindowSpec(
                name=name,
                variants=[label],
                seconds=round(window.duration_s),
                load=window.load,
                rates_rps={} if rate is None else {label: round(rate)},
                trim_start_s=plan.trim_start_s if plan else 2.0,  # what all plans of that time had
                trim_end_s=plan.trim_end_s if plan else 1.0,
            )
            if windows and rate is not None:
                spec.share = round(rate / windows[0].only.goodput_rps, 2)  # a plan's had no more digits
                spec.share_of = "closed"
            windows.append(
                WindowRecord(
                    spec=spec, windows={label: window}, duration_s=took_s.get(name, window.duration_s)
                )
            )
    spent_s = round(old.get("warm_up_s") or 0)
    warm_up = WarmUp(least_s=spent_s, cap_s=spent_s) if plan is None else warm_up_of(plan)
    findings = [Finding.model_validate(one) for one in old["findings"]]
    start = Start(
        warm_up_s=old.get("warm_up_s"),
        warm_up_requests=old.get("warm_up_requests"),
        findings=[one for one in findings if one.code != "failed"],
    )
    block = again or old["index"]
    return Trial(
        spec=TrialSpec(
            name=f"{block}-{label}",
            block=block,
            variants=[label],
            warm_up=warm_up,
            windows=[record.spec for record in windows],
            attempt=2 if again else 1,
        ),
        started_at=old["started_at"],
        verdict=old["verdict"],
        findings=[one for one in findings if one.code == "failed"],
        starts={label: start},
        windows=windows,
        phases=old.get("phases", []),
        overhead_s=old.get("overhead_s"),
    )


# ---- compare: campaign.json, compare.json, blocks/block-N.json ----

BUILD = {"build, start the stack": "build"}
"""A phase, and what it is called now."""


def _compare(folder: Path, files: list[Path]) -> Old:
    asked = _from(folder / CAMPAIGN, lambda raw: dict(raw["request"]))
    trials = [_from(block, _block) for block in sorted(folder.glob("blocks/*.json"))]
    trials.sort(key=lambda trial: trial.started_at)
    return _from(files[0], lambda raw: _compared(raw, asked, trials)), trials


def _with_settings(label: str) -> Variant:
    name, _, given = label.partition(":")
    settings = dict(pair.split("=", 1) for pair in given.split(",")) if given else {}
    return Variant(label=label, implementation=name, settings=settings)


def _compared(raw: Raw, asked: Raw, trials: list[Trial]) -> Result[Any]:
    findings, environment = raw["findings"], raw["environment"]
    lines = [
        {"variant": one["entrant"], **{name: one[name] for name in one if name not in ("entrant", "knobs")}}
        for one in findings["entries"]
    ]
    found = Compared.model_validate(
        {
            "reference": findings["reference"],
            "session": findings["verdict"],
            "blocks": raw["blocks"],
            "entries": lines,
            "same_against_itself": findings["same_against_itself"],
        }
    )
    # The reference's environment was kept whole; of the others, their settings.
    images = {role: image for role, image in environment["images"].items() if role != "app"}
    shared = {**environment, "images": images, "variables": {}, "configuration": {}, "hashes": {}}
    first, *others = findings["entries"]
    return _result(
        raw["campaign"],
        {**raw, "ceilings_rps": findings.get("ceilings_rps", {})},
        _request("compare", asked, [_with_settings(label) for label in asked["implementations"]]),
        found,
        verdict=_gravest(found.session, [line.verdict for line in found.entries]),
        reasons=findings["reasons"]
        or [f"{e.variant}: {reason}" for e in found.entries for reason in e.reasons],
        findings=[Finding.of("unfit-machine", "warning", text) for text in raw["warnings"]],
        trials=_counts(trials),
        phases_s={BUILD.get(name, name): seconds for name, seconds in raw["phases_s"].items()},
        environments={
            first["entrant"]: environment,
            **{one["entrant"]: {**shared, "knobs": one["knobs"]} for one in others},
        },
    )


def _block(raw: Raw) -> Trial:
    """In turns, a void window was made once more at once: it is of the same round. Then all were loaded together."""
    windows: list[WindowRecord] = []
    for shot in raw["shots"]:
        name = turn_name(shot["round"], shot["entrant"])
        again = any(record.spec.name == name for record in windows)
        windows.append(_shots(f"{name}.2" if again else name, [shot]))
    duets = raw.get("duets", [])
    for number in dict.fromkeys(shot["round"] for shot in duets):
        made = _shots(DUET if number == 1 else f"{DUET}-{number}", [s for s in duets if s["round"] == number])
        made.spec.load, made.spec.address = "open", "app:8080"
        made.spec.rates_rps = {
            label: round(window.offered_rps) for label, window in made.windows.items() if window.offered_rps
        }
        windows.append(made)
    warm_up_s = int(raw["phases_s"].get("warm up", 0.0) / len(raw["starts"]))
    return Trial(
        spec=TrialSpec(
            name=f"block-{raw['number']}",
            block=raw["number"],
            variants=raw["starts"],
            warm_up=WarmUp(least_s=warm_up_s, cap_s=warm_up_s),
            windows=[record.spec for record in windows],
        ),
        started_at=raw["started_at"],
        verdict=verdict([f for record in windows for own in record.windows.values() for f in own.findings]),
        starts={label: Start(refused=raw["refused"].get(label)) for label in raw["starts"]},
        windows=windows,
        phases=[Phase(name=BUILD.get(name, name), duration_s=s) for name, s in raw["phases_s"].items()],
    )


def _shots(name: str, shots: list[Raw]) -> WindowRecord:
    """Those of one time."""
    windows = {s["entrant"]: Window.model_validate(s["window"]) for s in shots if s["window"] is not None}
    lasts_s = next((window.duration_s for window in windows.values()), shots[0]["seconds"])
    return WindowRecord(
        spec=WindowSpec(
            name=name,
            variants=[shot["entrant"] for shot in shots],
            seconds=round(lasts_s),
            trim_start_s=0.5,  # what every plan had
            trim_end_s=0.25,
            settled=False,
        ),
        windows=windows,
        refused=shots[0]["refused"],
        duration_s=shots[0]["seconds"],
    )


# ---- capacity: capacity.json, and request.json beside it; windows were not kept ----


def _capacity(folder: Path, raw: Raw) -> Old:
    environment, slo, label = raw["environment"] or {}, Slo.model_validate(raw["slo"]), raw["implementation"]
    asked = {**raw, "db_rtt_ms": environment.get("variables", {}).get("DB_RTT_MS")}
    told = {"search_starts": "the probes of the search", "behaviour_starts": "the loads around the capacity"}
    interrupted = [
        Finding.of("interrupted", "warning", f"it was interrupted: {what} come from {raw[name]} fresh starts")
        for name, what in told.items()
        if raw.get(name, 1) > 1
    ]
    found = {
        **_known(raw, CapacityFound.model_fields),
        "search": [_judged(probe, slo) for probe in raw["search"]],
        "confirmations": [_judged(probe, slo) for probe in raw["confirmations"]],
        "behaviour": [_known(load, Behaviour.model_fields) for load in raw["behaviour"]],
    }
    options = {"slo": slo.asked, "longest_s": _longest_s(folder)}
    result = _result(
        folder.name,
        raw,
        _request("capacity", asked, _variants([label]), options=options),
        CapacityFound.model_validate(found),
        findings=interrupted,
        environments={label: environment} if environment else {},
    )
    return result, []


def _judged(probe: Raw, slo: Slo) -> Judged:
    times = probe["response_time_ms"] or {}
    kept = _known(probe, Judged.model_fields)
    return Judged(**kept, p50_ms=times.get("p50"), percentile_ms=times.get(slo.percentile))


def _longest_s(folder: Path) -> int:
    """The record itself does not tell; the command's default."""
    try:
        return int(json.loads((folder / "request.json").read_text())["longest_s"])
    except (OSError, ValueError, KeyError, TypeError):
        return 60


# ---- sweep, ceiling and crosscheck: a file with figures, and of crosscheck with windows ----


def _sweep(folder: Path, raw: Raw) -> Old:
    asked, options = raw["request"], ("axis", "values", "rounds")
    curves = [Curve(label=own["implementation"], **_known(own, Curve.model_fields)) for own in raw["curves"]]
    result = _result(
        folder.name,
        raw,
        _request("sweep", asked, _variants(asked["implementations"]), options=_known(asked, options)),
        Swept(curves=curves, **_known(asked, options)),
        findings=_incomplete("it has the figures of each trial only in curves"),
        trials=Counter(point["verdict"] for point in raw["points"]),
        environments=raw["environment"],
    )
    return result, []


def _ceiling(folder: Path, raw: Raw) -> Old:
    every = {**raw["ceilings"], **raw["implementations"]}
    reasons = [f"{what}: {text}" for what, own in every.items() for text in own["refused"]]
    known = all(own["goodput_rps"] is not None for own in every.values())
    wrong = any(": invalid" in reason or ": failed" in reason for reason in reasons)
    missing = "it lacks its plan (ceiling unless another was given), end time, environment and trials"
    result = _result(
        folder.name,
        raw,
        _request("ceiling", raw, _variants(list(raw["implementations"]))),
        Ceilings(
            variants=raw["implementations"],
            **_known(raw, ("rounds", "window_s", "equal_load_rps", "ceilings")),
        ),
        verdict=Verdict.INVALID if wrong else Verdict.OK if known else Verdict.VOID,
        reasons=reasons,
        findings=_incomplete(missing),
    )
    return result, []


def _crosscheck(folder: Path, raw: Raw) -> Old:
    label, window_s, told = raw["implementation"], int(raw["window_s"]), raw["versions"].items()
    made = []
    for number, pair in enumerate(raw["windows"], start=1):
        # oha came first in odd pairs, vegeta in even ones
        for generator in sorted(pair, reverse=number % 2 == 0):
            spec = WindowSpec(
                name=f"{number}-{generator}",
                variants=[label],
                seconds=window_s,
                load="open",
                rates_rps={label: raw["rate_rps"]},
                generator=generator,
                trim_start_s=1.0,
                trim_end_s=0.5,
            )
            made.append(WindowRecord(spec=spec, windows={label: Window.model_validate(pair[generator])}))
    verdicts = [record.only.verdict for record in made]
    specs = [record.spec for record in made]
    trial = Trial(
        spec=TrialSpec(name=label, block=1, variants=[label], warm_up=NO_WARM_UP, windows=specs),
        started_at=raw["started_at"],
        verdict=next((v for v in (Verdict.INVALID, Verdict.VOID) if v in verdicts), Verdict.OK),
        windows=made,
    )
    disagree = raw["verdict"] == "disagree"
    versions = ", ".join(f"{tool} {version}" for tool, version in told)
    options = {"pairs": len(raw["windows"]), "window_s": window_s, "rate_rps": raw["rate_rps"]}
    result = _result(
        folder.name,
        raw,
        _request("crosscheck", raw, _variants([label]), options=options),
        CrossChecked(word=raw["verdict"], **_known(raw, CrossChecked.model_fields)),
        verdict=Verdict.INVALID if disagree else Verdict.OK,
        reasons=raw["reasons"] if disagree else [],
        findings=_incomplete(
            f"it lacks its warm-up, end time and environment, but names the versions: {versions}"
        ),
        trials=_counts([trial]),
    )
    return result, [trial]


# ---- reproduce, files: reproduction.json, whose figures are in rows; windows were not kept ----

OF_SERVICES = ("APP_MAXCONN", "PGBOUNCER_POOL_SIZE")
"""Of a row's settings in capitals, those of the shared services."""


def _reproduction(folder: Path, raw: Raw) -> Old:
    rows = [
        RowResult(
            trials=[_row_trial(start) for start in row["starts"]],
            **_known(row, RowResult.model_fields.keys() - {"trials"}),
        )
        for row in raw["rows"]
    ]
    found = Reproduced(rows=rows, **_known(raw, Reproduced.model_fields.keys() - {"rows"}))
    result = _result(
        folder.name,
        raw,
        _asked_of(found, raw),
        found,
        headline=headline(raw),
        trials=Counter(one.verdict for row in rows for one in row.trials),
        phases_s=raw["spent_s"],
        environments=raw["environment"],
    )
    result.baselines = Baselines()
    if found.kind != "files":
        return result, []
    trials = _containers(result)
    result.trials = _counts(trials)
    return result, trials


def _row_trial(start: Raw) -> RowTrial:
    renamed = {"attempts": "attempt", "raw": "trial"}
    return RowTrial(**{renamed.get(key, key): value for key, value in start.items() if key != "spent_s"})


def _asked_of(found: Reproduced, raw: Raw) -> Request:
    """As it would be asked for today, as far as the rows' settings tell."""
    if found.kind == "files":
        variants = [_of_files(row, percent_of(found.settings)) for row in found.rows]
        return request_with(
            variants, found.experiment, found.experiment, found.digest, found.plan, raw["seed"]
        )
    told, programs = found.rows[0].settings, list(raw["environment"])
    cpus = [own["host"].get("cpus") for own in raw["environment"].values()]
    under = {
        "scenario": told.get("scenario", "index"),
        "topology": told.get("topology", "direct"),
        "placement": told.get("placement", "two-cores"),
        **_known(raw, ("plan", "seed")),
    }
    return _request(
        "reproduce",
        under,
        [_of_row(row, programs) for row in found.rows],
        title=found.experiment,
        options={
            "experiment": found.experiment,
            "digest": found.digest,
            "cpus": int(cpus[0] or 1) if cpus else 1,
        },
    )


def _of_row(row: RowResult, programs: list[str]) -> Variant:
    told = row.settings
    named = [name for name in programs if row.label.startswith(f"{name},")]
    return Variant(
        label=row.label,
        implementation=told.get("implementation") or (named or programs)[0],
        settings={name: value for name, value in told.items() if name.isupper() and name not in OF_SERVICES},
        build="debug" if told.get("build") == "debug" else None,
    )


def _of_files(row: RowResult, percent: int) -> Variant:
    told: Raw = dict(row.settings)
    run = FilesRun(
        way=told["way"],
        files=told["files"],
        lines=told["lines"].rpartition(" of ")[2].replace(",", ""),
        buffer_bytes=told["buffer"].removesuffix(" bytes"),
        cache=told["cache"],
    )
    return variant(row.label, run, lines_made(run, percent))


def _containers(old: Result[Any]) -> list[Trial]:
    """Rows that have the same raw file were measured in one. When each began was not recorded."""
    found: dict[str, Trial] = {}
    one: RowTrial
    for one in (one for row in old.conclusions.rows for one in row.trials):
        key = Path(one.trial or f"{one.block}-{one.row}").stem
        if key not in found:
            name = key.removesuffix("-again")
            spec = TrialSpec(name=name, block=one.block, variants=[], warm_up=NO_WARM_UP, attempt=one.attempt)
            found[key] = Trial(spec=spec, started_at=old.started_at, verdict=Verdict.OK)
        trial = found[key]
        trial.spec.variants.append(one.row)
        findings = [Finding.of("not-measured", "warning", text) for text in one.warnings]
        if one.verdict is Verdict.OK:
            counted = Counting(figures=one.figures, bottleneck=one.bottleneck, evidence=one.evidence)
            trial.facts[one.row] = counted.model_dump(mode="json")
        else:
            trial.verdict = one.verdict
            severity = "void" if one.verdict is Verdict.VOID else "invalid"
            findings.append(Finding.of(str(one.verdict), severity, one.reason or ""))  # type: ignore[arg-type]
        trial.starts[one.row] = Start(findings=findings)
    return [found[key] for key in sorted(found)]


FORMS: tuple[tuple[str, Callable[[Path, list[Path]], Old]], ...] = (
    (RUN, _bench),
    (f"*/{RUN}", _bench),
    ("compare.json", _compare),
    ("capacity.json", _alone(_capacity)),
    ("sweep.json", _alone(_sweep)),
    ("ceiling.json", _alone(_ceiling)),
    ("crosscheck.json", _alone(_crosscheck)),
    ("reproduction.json", _alone(_reproduction)),
)
"""The file that tells each form, and who reads it."""
