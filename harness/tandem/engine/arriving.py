"""Which generator sends a window, and when its requests are due. Pure and fixed by the seed."""

import hashlib
from typing import Any

from tandem.catalog.scenario import SCHEDULED
from tandem.engine.study import Study, Windows, generators_of, passed_on
from tandem.load.generator import OHA
from tandem.load.vegeta import VEGETA
from tandem.record.store import file_name
from tandem.record.trial import Arrivals, WindowSpec


def needed(study: Study[Any]) -> set[str]:
    """The load generators that the windows of a study will be sent by."""
    drawn = study.request.conditions.arrivals is not None or scheduled(study)
    return generators_of(study) | ({VEGETA.name} if drawn else set())


def scheduled(study: Study[Any]) -> set[str]:
    """Labels of the variants whose requests only vegeta can send: mixes, and clients that try again or close their connections."""
    known, asked = study.catalog.scenarios, study.request.scenario
    alike = {name for name, scenario in known.items() if scenario.scheduled}
    own = {one.label for one in study.variants if any(map(one.scenario_changes.get, SCHEDULED))}
    return own | {one.label for one in study.variants if (one.scenario or asked) in alike}


def sent(study: Study[Any], windows: Windows, block: int) -> Windows:
    """The windows of one warm start, those that oha cannot make as vegeta makes them: open loops whose arrivals are drawn, and
    what only it can send. All variants of a block have one seed."""
    request, labels = study.request, scheduled(study)

    def changed(spec: WindowSpec) -> WindowSpec:
        process = request.conditions.arrivals if spec.load == "open" else None
        if spec.generator != OHA.name or not (process or labels & set(spec.variants)):
            return spec
        name = spec.name
        for label in spec.variants:  # it may end with the variant's
            name = name.removesuffix(file_name(label))
        drawn = hashlib.sha256(f"{request.seed} {block} {name}".encode()).digest()[:4]
        arrivals = (process or Arrivals()).model_copy(update={"seed": int.from_bytes(drawn)})
        return spec.model_copy(update={"generator": VEGETA.name, "arrivals": arrivals})

    return passed_on(windows, changed)
