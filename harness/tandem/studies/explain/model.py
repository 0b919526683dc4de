"""The closed network beside the cells: each is predicted from what its own windows counted. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tandem.analysis.stack import OFF, Setup, calibrated, likely, off, predict
from tandem.record.window import Window
from tandem.studies.explain.conclusions import Modelled


def modelled(
    windows: Sequence[Window], setup: Setup, settings: Mapping[str, str], goodput_rps: float
) -> Modelled | None:
    """None where nothing was counted, or the network is too large to be solved. windows: the good ones of a cell. setup:
    what its settings allow. settings: effective ones. goodput_rps: what was measured."""
    found = calibrated(windows)
    if found is None:
        return None
    counted = max((w.db_connections_max for w in windows if w.db_connections_max), default=None)
    pool = setup.pool if setup.pool is None or counted is None else min(setup.pool, counted)
    try:
        predicted = predict(found, replace(setup, pool=pool, distance_ms=found.distance_ms))
    except ValueError:
        return None
    # A connection that lives for one request is rarely seen; its thread is known.
    seen = counted if pool is None and setup.threads is None else pool
    limits = [n for n in (seen, setup.threads, setup.admitted) if n is not None]
    away = off(predicted.throughput_rps, goodput_rps)
    return Modelled(
        round_trips=found.round_trips,
        usable_connections=min(limits) if limits and found.round_trips else None,
        distance_ms=found.distance_ms,
        predicted=predicted,
        off=away,
        likely=likely(found, found, settings, too_high=away > 0) if abs(away) > OFF else [],
    )
