"""Cross-checks of schema 1: crosscheck.json, with the windows of all pairs."""

from pathlib import Path

from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Baselines, Result
from tandem.record.trial import Trial, TrialSpec, WarmUp, WindowRecord, WindowSpec
from tandem.record.window import Verdict, Window
from tandem.studies.crosscheck.conclusions import CrossChecked
from tandem.studies.old_json import Raw, incomplete, migrate

FILE, PLAN, SEED = "crosscheck.json", "ceiling", 0
TRIMS_S = (1.0, 0.5)


def migrated(folder: Path) -> tuple[Result[CrossChecked], list[Trial]] | None:
    """The cross-check of that folder in today's schema, its windows as one trial. Raises TandemError, naming the file."""
    return migrate(folder / FILE, lambda raw: (_result(folder.name, raw), [_trial(raw)]))


def _trial(raw: Raw) -> Trial:
    label = raw["implementation"]
    made = []
    for number, pair in enumerate(raw["windows"], start=1):
        # oha came first in odd pairs, vegeta in even ones
        for generator in sorted(pair, reverse=number % 2 == 0):
            spec = WindowSpec(
                name=f"{number}-{generator}",
                variants=[label],
                seconds=int(raw["window_s"]),
                load="open",
                rates_rps={label: raw["rate_rps"]},
                generator=generator,
                trim_start_s=TRIMS_S[0],
                trim_end_s=TRIMS_S[1],
            )
            made.append(WindowRecord(spec=spec, windows={label: Window.model_validate(pair[generator])}))
    verdicts = [record.only.verdict for record in made]
    worst = next((v for v in (Verdict.INVALID, Verdict.VOID) if v in verdicts), Verdict.OK)
    return Trial(
        spec=TrialSpec(
            name=label,
            block=1,
            variants=[label],
            warm_up=WarmUp(least_s=0, cap_s=0),
            windows=[record.spec for record in made],
        ),
        started_at=raw["started_at"],
        verdict=worst,
        windows=made,
    )


def _result(name: str, raw: Raw) -> Result[CrossChecked]:
    verdict = Verdict.INVALID if raw["verdict"] == "disagree" else Verdict.OK
    told = ", ".join(f"{tool} {version}" for tool, version in raw["versions"].items())
    label = raw["implementation"]
    return Result[CrossChecked](
        id=name,
        request=Request(
            study="crosscheck",
            variants=[Variant(label=label, implementation=label)],
            scenario=raw["scenario"],
            conditions=Conditions(topology=raw["topology"], placement=raw["placement"]),
            plan=PLAN,
            seed=SEED,
            options={
                "pairs": len(raw["windows"]),
                "window_s": int(raw["window_s"]),
                "rate_rps": raw["rate_rps"],
            },
        ),
        started_at=raw["started_at"],
        finished_at=raw["started_at"],
        verdict=verdict,
        reasons=raw["reasons"] if verdict is not Verdict.OK else [],
        findings=[incomplete(f"it has neither its warm-up nor its end and its environment, but {told}")],
        trials={_trial(raw).verdict: 1},
        baselines=Baselines(),
        conclusions=CrossChecked(
            rate_rps=raw["rate_rps"],
            window_s=raw["window_s"],
            pairs=raw["pairs"],
            disturbed=raw["disturbed"],
            comparisons=raw["comparisons"],
            word=raw["verdict"],
            reasons=raw["reasons"],
        ),
        phases_s=raw.get("phases_s", {}),
    )
