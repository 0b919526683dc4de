"""A small experiment and its trials; a test changes the one thing that it is about."""

from typing import Any

from harness_engine import request, result_of

from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.studies.reproduce.conclusions import Facts, Reproduced, RowTrial, conclude
from tandem.studies.reproduce.experiment import Experiment, PlanName, check

SLOW, FAST, OURS = "sync, 2 threads", "async", "async, ours"


def table(**changes: Any) -> dict[str, Any]:
    """What its TOML file holds."""
    return {
        "title": "Waiting",
        "origin": "rust-hyper-sync-async.md, 20 ms",
        "published_host": "a laptop of 2015",
        "kind": "http",
        "figures": ["goodput_rps", "p99_ms"],
        "run": {"scenario": "work", "settings": {"WORKERS": "1"}},
        "rows": [
            {
                "label": SLOW,
                "run": {"implementation": "rust-sync", "settings": {"THREADS": "2"}},
                "published": {"goodput_rps": 100.0, "p99_ms": 40.0},
                "published_elsewhere": {"a desktop": {"goodput_rps": 90.0}},
                "smoke": True,
            },
            {
                "label": FAST,
                "run": {"implementation": "rust-hyper"},
                "published": {"goodput_rps": 400.0},
                "published_elsewhere": {"a desktop": {"goodput_rps": 450.0}},
                "smoke": True,
            },
            {"label": OURS, "run": {"implementation": "rust-async"}, "note": "not published"},
        ],
        "claims": [
            {"text": "async is four times faster", "of": FAST, "to": SLOW},
            {"text": "a framework costs little", "of": OURS, "to": FAST, "says": "same"},
        ],
        "plans": {"smoke": {"starts": 2, "window_s": 2}, "full": {"starts": 5, "window_s": 10}},
        "sentence": "Async won.",
        **changes,
    }


def experiment(**changes: Any) -> Experiment:
    found = Experiment.model_validate({"name": "waiting", **table(**changes)})
    check(found)
    return found


def made(row: str, block: int, rate: float, **changes: Any) -> RowTrial:
    fields: dict[str, Any] = {
        "row": row,
        "block": block,
        "verdict": Verdict.OK,
        "figures": {"goodput_rps": rate, "mean_ms": 1e5 / rate},
        "bottleneck": "thread-pool",
    }
    return RowTrial.model_validate({**fields, **changes})


def trials(rates: dict[str, float], blocks: int = 5, spread: float = 0.002) -> list[RowTrial]:
    return [
        made(row, block, rate * (1 + spread * (block - (blocks + 1) / 2)))
        for row, rate in rates.items()
        for block in range(1, blocks + 1)
    ]


def reproduction(
    found: list[RowTrial], of: Experiment | None = None, plan: PlanName = "full"
) -> Result[Reproduced]:
    facts = {SLOW: Facts({"THREADS": "2"}, {"threads/delay": 100.0})}
    concluded = conclude(of or experiment(), plan, "0", found, facts)
    asked = request(SLOW, study="reproduce", scenario="work", plan=plan, seed=7)
    return result_of(asked, concluded, phases_s={"build": 3.0, "windows": 150.0, "ready": 22.5})
