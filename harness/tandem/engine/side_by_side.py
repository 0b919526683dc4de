"""Trials in which several variants are up side by side: their windows, and which of them follow from the windows before. Pure.

A window of all at once is a duet (Bulej et al., ICPE 2020): what the host does to one it does to the others in the same moment, so
the ratio of their costs is far steadier than that of windows taken one after the other. It tells costs and not rates: the variants
share their CPUs. HAProxy is not in the path, and nobody knows for whom the database worked.
"""

from collections.abc import Sequence
from statistics import fmean

from tandem.catalog.catalog import Pairing
from tandem.facts.fact import wrong
from tandem.record.request import Variant
from tandem.record.store import file_name
from tandem.record.trial import WarmUp, WindowRecord, WindowSpec
from tandem.record.window import Verdict

DIRECT = "app:8080"
SHARE = 0.6
"""Share of what the slowest reaches alone: all rates of a duet together."""
SATURATED_SHARE = 0.82
"""Share of what all together reach at one rate."""


def second(label: str) -> str:
    """The label of a variant's second start."""
    return f"{label}~2"


def again(variant: Variant) -> Variant:
    """A variant's second start."""
    base = variant.base or variant.label
    coordinates = {**variant.coordinates, "start": 2}
    return variant.model_copy(
        update={"label": second(variant.label), "base": base, "coordinates": coordinates}
    )


def warm_up_of(pairing: Pairing) -> WarmUp:
    """The pairing's warm-up."""
    return WarmUp(
        least_s=pairing.warm_up_s,
        steady_buckets=pairing.steady_buckets,
        cap_s=max(pairing.warm_up_s, pairing.warm_up_cap_s),
    )


def window_of(pairing: Pairing, name: str, labels: list[str], seconds: int) -> WindowSpec:
    """A window of a pairing: it does not wait for a quiet host, as what is compared meets the same one."""
    return WindowSpec(
        name=name,
        variants=labels,
        seconds=seconds,
        trim_start_s=pairing.trim_start_s,
        trim_end_s=pairing.trim_end_s,
        settled=False,
    )


def in_turn(pairing: Pairing, number: int, label: str, seconds: int) -> WindowSpec:
    """A variant's window in a round."""
    window = window_of(pairing, f"round-{number}-{file_name(label)}", [label], seconds)
    return window.model_copy(update={"round": number})


def all_at_once(pairing: Pairing, labels: list[str], seconds: int, saturated: bool = False) -> WindowSpec:
    """A duet, whose rates follow from the windows before it (`duet_of`). saturated: near the limit of all together, where some
    requests may come too late."""
    role = "saturated" if saturated else "duet"
    how = {"role": role, "load": "open", "address": DIRECT, "counts": not saturated}
    return window_of(pairing, role, labels, seconds).model_copy(update=how)


def duet_rates(goodputs_rps: Sequence[float], saturated: bool = False) -> list[int]:
    """The rate at which each is asked, per second. goodputs_rps: of each, alone. saturated: near the limit of all together,
    which is where their shares of what each reaches alone add up to one.

    One rate, but that each next one is asked once a second more often: with equal rates the one that is always asked
    just behind another finds its caches warm or cold, and two starts of one program differed by 1.7 % in seven blocks.
    """
    moderate_rps = SHARE * min(goodputs_rps) / len(goodputs_rps)
    near_rps = SATURATED_SHARE / sum(1 / rate for rate in goodputs_rps)
    least = max(1, int(near_rps if saturated else moderate_rps))
    return [least + number for number in range(len(goodputs_rps))]


def honest(labels: Sequence[str], made: Sequence[WindowRecord]) -> dict[str, list[WindowRecord]]:
    """Who may be loaded together with others, and the windows of each: there are some, and none says that it is wrong.
    Statements are counted for all together."""
    records = {label: [record for record in made if label in record.spec.variants] for label in labels}

    def good(label: str, record: WindowRecord) -> bool:
        return label in record.windows and not wrong(record, record.windows[label])

    return {
        label: own for label, own in records.items() if own and all(good(label, record) for record in own)
    }


def reached(labels: Sequence[str], made: Sequence[WindowRecord]) -> dict[str, float] | None:
    """The goodput of each honest variant: in slices, else in turn. None where the host left one of them none."""
    alone = {
        label: [
            window.goodput_rps
            for record in [record for record in own if record.spec.slices] or own
            if record.spec.load == "closed" and (window := record.windows[label]).verdict is Verdict.OK
        ]
        for label, own in honest(labels, made).items()
    }
    if not alone or not all(alone.values()):
        return None
    return {label: fmean(found) for label, found in alone.items()}


def is_duet(window: WindowSpec) -> bool:
    """Whether all variants are loaded at once in it."""
    return window.role in ("duet", "saturated")


def duet_of(window: WindowSpec, made: Sequence[WindowRecord]) -> WindowSpec | None:
    """The duet that follows from the windows before it; None where somebody reached nothing."""
    alone = reached(window.variants, made)
    if alone is None:
        return None
    rates = duet_rates(list(alone.values()), window.role == "saturated")
    return window.model_copy(
        update={"variants": list(alone), "rates_rps": dict(zip(alone, rates, strict=True))}
    )
