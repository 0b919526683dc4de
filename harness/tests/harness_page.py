"""Records for the tests of the page: a crossover, nightly histories, and one of each study that no committed result is of."""

import json
import math
import random
import re
from html import unescape
from pathlib import Path
from typing import Any

from harness_engine import play, request, result_of
from harness_nights import night
from harness_places import ROOT
from harness_samples import good_window

from tandem.analysis.stack import Predicted
from tandem.catalog.catalog import Catalog
from tandem.facts.metric import GOODPUT
from tandem.history.files import NIGHTS
from tandem.history.night import Line
from tandem.record.conclusion import Coordinates, Estimate
from tandem.record.result import Baselines, Concluded, Result
from tandem.record.store import RESULT, write_model
from tandem.record.trial import TrialSpec, WindowSpec
from tandem.record.window import Verdict, Window
from tandem.studies.crosscheck.study import CrossCheckOptions
from tandem.studies.crossover.conclusions import Crossed, Prediction, cells, meetings
from tandem.studies.registry import STUDIES
from tandem.studies.sweep.study import SweepOptions

FIRST, SECOND = "python-sync", "python-async"
CHANGED = 60
"""The night from which on a step is there."""


def crossover() -> Result[Crossed]:
    """Of two pools and four waits: the first wins without a wait, the second with a long one, and one cell is undecided."""
    at: list[Coordinates] = [{"wait_ms": wait, "pool": pool} for pool in (8, 20) for wait in (0, 1, 5, 15)]
    ratios = [0.7, 0.93, 1.4, 2.6, 0.72, None, 1.0, 1.9]
    ln = [[math.log(ratio) + each for each in (-0.03, 0.0, 0.03)] if ratio else [] for ratio in ratios]
    found = Crossed(
        contrasts=cells(FIRST, SECOND, at, ln), first=FIRST, second=SECOND, waits_for="database", rounds=3
    )
    for coordinates, ratio in zip(at, ratios, strict=True):
        first = 800 / (1 + int(coordinates["wait_ms"]))
        for name, rate, off in ((FIRST, first, 1.1), (SECOND, first * (ratio or 1), 1.21)):
            of: dict[str, Any] = {"variant": name, "coordinates": coordinates}
            ends = 0.95 * rate, 1.05 * rate
            found.estimates.append(
                Estimate(metric=GOODPUT, mean=rate, interval=ends, n=3, limit="app-cpu", **of)
            )
            told = Predicted(throughput_rps=off * rate, response_ms=5, utilisation={}, limited_by="app-cpu")
            found.predictions.append(Prediction(predicted=told, calibrated=False, off=off - 1, **of))
    found.meetings = meetings(found)
    asked = request(FIRST, SECOND, study="crossover", plan="crossover")
    return result_of(asked, Concluded(verdict=Verdict.OK, conclusions=found), id="crossover")


def keep_crossover(folder: Path) -> None:
    """Keeps it among the results."""
    folder.mkdir(parents=True)
    write_model(folder / RESULT, crossover())


def keep_nights(machine: Path, count: int = 100, step: float = 0.05) -> None:
    """A history whose series moves by a step from CHANGED on."""
    chance = random.Random(1)
    for number in range(count):
        values: dict[Line, float] = {
            "today": chance.gauss(0, 0.008) + (step if number >= CHANGED else 0),
            "frozen": chance.gauss(0, 0.008),
            "weather": chance.gauss(4, 0.008),
        }
        made = night(number, values, machine=machine.name, cpu_model="a CPU")
        (machine / NIGHTS).mkdir(parents=True, exist_ok=True)
        (machine / NIGHTS / f"{made.id}.json").write_text(made.model_dump_json())


UNCOMMITTED: dict[str, dict[str, Any]] = {
    "sweep": {"options": SweepOptions(axis="connections", values=[4, 16, 64], rounds=3).as_options()},
    "ceiling": {},
    "crosscheck": {"scenario": "index", "options": CrossCheckOptions(pairs=3, window_s=5).as_options()},
}
"""Study -> what its request has of its own."""
RATES_RPS = {
    **{"rust-async connections=4": 900.0, "ceiling null": 9000.0},
    **{"ceiling proxy": 8000.0, "ceiling database": 1400.0},
}
"""Of these starts in the first block; the others reach 1,000."""


def uncommitted(study: str) -> Result[Any]:
    """A record of one of these studies, in which each block is a hundredth faster than the one before."""

    def answer(spec: TrialSpec, window: WindowSpec) -> Window:
        rate = RATES_RPS.get(spec.variants[0], 1000.0) * (0.99 + spec.block / 100)
        return good_window(window.load, goodput_rps=rate, bottleneck="database")

    asked = request(study=study, plan="ceiling", **UNCOMMITTED[study])
    made = STUDIES[study](Catalog(ROOT), asked)
    return result_of(asked, made.conclude(play(made, answer), Baselines()), id=study)


def page_and_data(page: Path) -> tuple[str, dict[str, Any]]:
    """The text of a page, and what its pictures are drawn from."""
    text = page.read_text()
    return unescape(text), json.loads(re.findall(r'id="data">(.*?)</script>', text)[0])


def keep_uncommitted(folder: Path) -> None:
    """One of each of these studies, in a folder of its own."""
    for study in UNCOMMITTED:
        (folder / study).mkdir(parents=True)
        write_model(folder / study / RESULT, uncommitted(study))
