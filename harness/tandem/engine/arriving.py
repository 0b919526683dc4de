"""Which generator sends a window, and when its requests are due. Pure and fixed by the seed."""

import hashlib
from typing import Any

from tandem.engine.study import Study, Windows, generators_of, passed_on
from tandem.load.generator import OHA
from tandem.load.vegeta import VEGETA
from tandem.record.store import file_name
from tandem.record.trial import Arrivals, WindowSpec


def needed(study: Study[Any]) -> set[str]:
    """The load generators that the windows of a study will be sent by."""
    drawn = study.request.conditions.arrivals is not None or mixed(study)
    return generators_of(study) | ({VEGETA.name} if drawn else set())


def mixed(study: Study[Any]) -> set[str]:
    """Labels of the variants that are asked for a mix."""
    known, asked = study.catalog.scenarios, study.request.scenario
    mixes = {name for name, scenario in known.items() if scenario.beside}
    own = {one.label for one in study.variants if one.scenario_changes.get("beside")}
    return own | {one.label for one in study.variants if (one.scenario or asked) in mixes}


def sent(study: Study[Any], windows: Windows, block: int) -> Windows:
    """The windows of one warm start, those that oha cannot make as vegeta makes them: open loops whose arrivals are drawn, and
    mixes. All variants of a block have one seed."""
    mixes = mixed(study)
    return passed_on(windows, lambda spec: _sent(study, spec, mixes, block))


def _sent(study: Study[Any], spec: WindowSpec, mixes: set[str], block: int) -> WindowSpec:
    process = study.request.conditions.arrivals if spec.load == "open" else None
    if spec.generator != OHA.name or not (process or mixes & set(spec.variants)):
        return spec
    name = spec.name
    for label in spec.variants:  # it may end with the variant's
        name = name.removesuffix(file_name(label))
    drawn = hashlib.sha256(f"{study.request.seed} {block} {name}".encode()).digest()[:4]
    arrivals = (process or Arrivals()).model_copy(update={"seed": int.from_bytes(drawn)})
    return spec.model_copy(update={"generator": VEGETA.name, "arrivals": arrivals})
