"""What the three questions come to. Pure."""

from collections.abc import Sequence

from pydantic import Field

from tandem.analysis.ratios import t_interval
from tandem.judge.bottleneck import nearest
from tandem.record.part import Number, Part
from tandem.record.result import Conclusions
from tandem.record.trial import Trial
from tandem.studies.bench.conclusions import CLOSED, Benched, Row, good

OF_THE_APPLICATION = {"app-cpu", "app-thread"}


class Waited(Part):
    """How near an implementation came to what waiting allows, under one condition."""

    share: Number | None
    """Of connections / (round trips x idle round trip), mean of the starts."""
    interval: tuple[Number, Number] | None
    ceiling_rps: Number | None
    """That rate."""
    bytes_per_request: Number | None
    """What the application's memory grew by, by the requests that waited at once."""


class Answered(Conclusions):
    """Condition -> a bench of all implementations under it, and what belongs to one question only."""

    conditions: dict[str, Benched] = Field(default_factory=dict)
    application_bound: dict[str, bool] = Field(default_factory=dict)
    """Label under the second condition -> whether its CPUs or a thread of it were the limit, and nothing else as near."""
    waited: dict[str, Waited] = Field(default_factory=dict)
    """By the label under each of the other conditions."""


def application_bound(row: Row) -> bool:
    """Whether the shares of its windows show that the application was the limit."""
    return bool(busy := nearest(row.resources)) and OF_THE_APPLICATION.issuperset(one.tag for one in busy)


def waited(trials: Sequence[Trial], row: Row) -> Waited:
    """trials: of one variant under one condition."""
    shares, ceilings = [], []
    for trial in good(trials):
        window = trial.window(CLOSED)
        far = [one for one in window.resources if one.tag == "distance"] if window else []
        if window is not None and far and far[0].utilisation > 0:
            shares.append(far[0].utilisation)
            ceilings.append(window.goodput_rps / far[0].utilisation)
    n = len(shares)
    return Waited(
        share=sum(shares) / n if n else None,
        interval=t_interval(shares),
        ceiling_rps=sum(ceilings) / n if n else None,
        bytes_per_request=row.summary.app_memory_per_connection_bytes,
    )
