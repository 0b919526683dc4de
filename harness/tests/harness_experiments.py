"""A small experiment and its trials; a test changes the one thing that it is about."""

from dataclasses import replace
from typing import Any

from harness_engine import request, result_of

from tandem.record.conclusion import Estimate
from tandem.record.request import Variant
from tandem.record.result import Result
from tandem.studies.reproduce.conclusions import Reproduced, RowFound, conclude
from tandem.studies.reproduce.experiment import Experiment, PlanName, check
from tandem.studies.reproduce.rows import PlannedRow
from tandem.studies.reproduce.trials import RowTrial

SLOW, FAST, OURS = "sync, 2 threads", "async", "async, ours"


def table(**changes: Any) -> dict[str, Any]:
    """What its TOML file holds."""
    return {
        "title": "Waiting",
        "origin": "rust-hyper-sync-async.md, 20 ms",
        "published_host": "a laptop of 2015",
        "figures": ["goodput_rps", "p99_ms"],
        "variant": {"scenario": "work", "topology": "direct", "scenario_changes": {"connections": 100}},
        "rows": [
            {
                "label": SLOW,
                "variant": {"implementation": "rust-sync", "settings": {"THREADS": "2"}},
                "published": {"goodput_rps": 100.0, "p99_ms": 40.0},
                "published_elsewhere": {"a desktop": {"goodput_rps": 90.0}},
                "smoke": True,
            },
            {
                "label": FAST,
                "variant": {"implementation": "rust-hyper"},
                "published": {"goodput_rps": 400.0},
                "published_elsewhere": {"a desktop": {"goodput_rps": 450.0}},
                "smoke": True,
            },
            {"label": OURS, "variant": {"implementation": "rust-async"}, "note": "not published"},
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
    figures = {"goodput_rps": rate, "mean_ms": 1e5 / rate}
    return replace(RowTrial(row, block, figures=figures, bottleneck="thread-pool"), **changes)


def trials(rates: dict[str, float], blocks: int = 5) -> list[RowTrial]:
    return [
        made(row, block, rate * (1 + 0.002 * (block - (blocks + 1) / 2)))
        for row, rate in rates.items()
        for block in range(1, blocks + 1)
    ]


def reproduction(
    found: list[RowTrial], of: Experiment | None = None, plan: PlanName = "full"
) -> Result[Reproduced]:
    own = of or experiment()
    rows = [
        PlannedRow(
            row=row,
            variant=Variant(label=row.label, implementation="rust-sync", settings={"THREADS": "2"}),
            start=row.label,
            settings={"THREADS": "2"},
            ceilings={"threads/delay": 100.0} if row.label == SLOW else {},
        )
        for row in own.measured(plan)
    ]
    asked = request(SLOW, study="reproduce", scenario="work", plan=plan, seed=7)
    concluded = conclude(own, plan, "0", rows, found)
    return result_of(asked, concluded, phases_s={"build": 3.0, "windows": 150.0, "ready": 22.5})


def row_of(found: Reproduced, label: str) -> RowFound:
    """A row of a reproduction."""
    return {row.label: row for row in found.rows}[label]


def estimates_of(found: Reproduced, label: str) -> dict[str, Estimate]:
    """The estimates of a row, by metric."""
    position = row_of(found, label).position
    return {one.metric: one for one in found.estimates if one.position == position}
