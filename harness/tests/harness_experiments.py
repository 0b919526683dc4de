"""A small experiment and its starts; a test changes the one thing that it is about."""

from typing import Any

from harness_samples import NOW

from tandem.record.window import Verdict
from tandem.reproduce.experiment import Experiment, check
from tandem.reproduce.result import Asked, Facts, Reproduction, Start, conclude

SLOW, FAST, OURS = "sync, 2 threads", "async", "async, ours"


def table(**changes: Any) -> dict[str, Any]:
    """What its TOML file holds."""
    return {
        "title": "Waiting",
        "origin": "rust-hyper-sync-async.md, 20 ms",
        "published_host": "a laptop of 2015",
        "kind": "http",
        "figures": ["goodput_rps", "p99_ms"],
        "run": {"scenario": "work", "knobs": {"WORKERS": "1"}},
        "rows": [
            {
                "label": SLOW,
                "run": {"implementation": "rust-sync", "knobs": {"THREADS": "2"}},
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


def asked(**changes: Any) -> Asked:
    fields = {"experiment": "waiting", "plan": "full", "digest": "0", "seed": 7}
    return Asked.model_validate({**fields, **changes})


def made(row: str, block: int, rate: float, **changes: Any) -> Start:
    fields: dict[str, Any] = {
        "row": row,
        "block": block,
        "verdict": Verdict.OK,
        "figures": {"goodput_rps": rate, "mean_ms": 1e5 / rate},
        "bottleneck": "thread-pool",
        "spent_s": {"window": 10.0, "fresh start": 1.5},
    }
    return Start.model_validate({**fields, **changes})


def starts(rates: dict[str, float], blocks: int = 5, spread: float = 0.002) -> list[Start]:
    return [
        made(row, block, rate * (1 + spread * (block - (blocks + 1) / 2)))
        for row, rate in rates.items()
        for block in range(1, blocks + 1)
    ]


def reproduction(found: list[Start], of: Experiment | None = None, **changes: Any) -> Reproduction:
    facts = {SLOW: Facts({"THREADS": "2"}, {"threads/delay": 100.0})}
    return conclude(of or experiment(), asked(**changes), found, facts, {}, {"build": 3.0}, (NOW, NOW))
