"""What a study concludes, with the estimates that every study has. Pure."""

from collections.abc import Sequence
from typing import Any

from tandem.engine.study import Study
from tandem.facts.estimate import estimates
from tandem.record.conclusion import Estimate
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial
from tandem.record.window import Verdict


def conclude(study: Study[Any], trials: Sequence[Trial], baselines: Baselines) -> Concluded[Any]:
    """The study's own conclusions, and for each variant the estimates that its windows give, where the study has none of that
    metric, and does not say that the variant has no figures. trials: all but the looks at the ceilings."""
    found: Concluded[Any] = study.conclude(trials, baselines)
    if found.complete:
        return found
    own = found.conclusions.estimates
    known = {_key(one.metric, one) for one in own}
    without = {_key("", one) for one in own if one.verdict is not Verdict.OK}
    more = [
        one
        for one in estimates(trials, study.variants)
        if _key(one.metric, one) not in known and _key("", one) not in without
    ]
    found.conclusions.estimates = [*own, *more]
    return found


def _key(metric: str, one: Estimate) -> tuple[str, str, str]:
    return metric, one.variant, str(sorted(one.coordinates.items()))
