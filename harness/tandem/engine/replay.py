"""A recorded request, asked for again; and what came of it, beside the record. Starts nothing."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tandem.analysis.prediction import Replayed, Values, figures, of_windows
from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import counting
from tandem.engine.stand_ins import is_look
from tandem.errors import unknown
from tandem.judge.file_io import Counting
from tandem.lab.prepare import VariantConditions
from tandem.record.request import Request, Variant
from tandem.record.result import Environment, Result
from tandem.record.store import read_model
from tandem.record.trial import Trial
from tandem.record.window import Verdict

MEASURED_BY_ITSELF = ("time_ms", "cpu_ms", "peak_memory_mib")
"""Figures that are compared of a program that measures itself."""
FILE = "replay.json"
"""File of a replay, in the folder of the new result."""


def read_replayed(folder: Path) -> Replayed | None:
    """What a replay found, in the folder of its result; None where that is no replay. Raises TandemError."""
    file = folder / FILE
    return read_model(Replayed, file) if file.is_file() else None


# ---- what to ask for ----


def again(catalog: Catalog, result: Result[Any], seed: int) -> Request:
    """The request of a record, with another seed. Raises UsageError for what is no longer there.

    Where a default has changed since, the recorded value is chosen. Settings that are still the default are not, nor
    those that were unset: a value that is no value cannot be asked for, and the report tells the change.
    """
    request, variants = result.request, list[Variant]()
    for variant in result.request.variants:
        recorded = result.environments.get(variant.label)
        if recorded is not None and variant.stand_in is None:
            now = VariantConditions(catalog, request, variant).effective_settings()
            then = {name: value for name, value in recorded.settings.items() if value}
            chosen = {name: value for name, value in then.items() if now.get(name, value) != value}
            variant = variant.model_copy(update={"settings": {**variant.settings, **chosen}})
        variants.append(variant)
    return request.model_copy(update={"seed": seed, "variants": variants})


def of_rows[T](rows: Sequence[str], known: Mapping[str, T]) -> list[T]:
    """What is known of these rows, in the order of `known`, each once. Raises UsageError for a row that is not known."""
    for row in rows:
        if row not in known:
            raise unknown("row", row, known)
    return [value for row, value in known.items() if row in rows]


def part(request: Request, rows: Sequence[str]) -> Request:
    """A recorded request of these variants alone, in its own order. Raises UsageError for one that there is not."""
    variants = of_rows(rows, {variant.label: variant for variant in request.variants})
    return request.model_copy(update={"variants": variants})


# ---- what came of it ----


def compare(
    old: tuple[Result[Any], Sequence[Trial]],
    new: tuple[Result[Any], Sequence[Trial]],
    labels: Collection[str] | None = None,
) -> Replayed:
    """The answer of a replay. old and new: results with their trials, of the same request. labels: the variants that were
    measured again; None: all."""
    recorded, made = (_values(trials) for _, trials in (old, new))
    pairs = {
        (label, metric): (values, made.get(label, {}).get(metric, []))
        for label, own in recorded.items()
        if labels is None or label in labels
        for metric, values in own.items()
        if values or made.get(label, {}).get(metric)
    }
    compared = figures(pairs)
    outcomes = {figure.outcome for figure in compared}
    verdict = new[0].verdict
    return Replayed(
        study=new[0].request.study,
        recorded=old[0].id,
        new=new[0].id,
        verdict=verdict,
        figures=compared,
        differences=differences(old[0].environments, new[0].environments),
        reproduced=verdict is Verdict.OK and "within" in outcomes and "outside" not in outcomes,
    )


def _values(trials: Sequence[Trial]) -> dict[str, Values]:
    """Label -> its values. The looks at the ceilings are the session's own."""
    counted = counting(one for one in trials if one.verdict is Verdict.OK and not is_look(one.spec))
    labels = dict.fromkeys(label for trial in counted for label in trial.spec.variants)
    return {
        label: _compared([trial for trial in counted if label in trial.spec.variants], label)
        for label in labels
    }


def _compared(trials: Sequence[Trial], label: str) -> Values:
    """What the windows of a variant give, or a program that measures itself. trials: those that count, all good."""
    counted = [
        Counting.model_validate(trial.facts[label]).figures for trial in trials if label in trial.facts
    ]
    if not counted:
        return of_windows(trials, label)
    return {name: [one[name] for one in counted if name in one] for name in MEASURED_BY_ITSELF}


def differences(old: dict[str, Environment], new: dict[str, Environment]) -> list[str]:
    """Differences of the environments in sentences: what is so for all variants once, the rest with the variant."""
    both = [label for label in old if label in new]
    told = {label: list(_differences(old[label], new[label])) for label in both}
    often = Counter(sentence for own in told.values() for sentence in own)
    out = [sentence for sentence, count in often.items() if count == len(both)]
    out += [f"{label}: {sentence}" for label in both for sentence in told[label] if sentence not in out]
    return out


def _differences(before: Environment, after: Environment) -> Iterator[str]:
    if before.git_commit != after.git_commit:
        yield f"git commit: {(before.git_commit or '?')[:12]} -> {(after.git_commit or '?')[:12]}"
    for when, environment in (("then", before), ("now", after)):
        if environment.git_dirty:
            yield f"the working tree had uncommitted changes {when}"

    def told(host: Mapping[str, str | int | float | None]) -> dict[str, str]:
        # What is measured of a clock or a network is never the same twice.
        known = {name: str(value) for name, value in host.items() if value is not None}
        return {name: value for name, value in known.items() if not name.endswith("_ms")}

    yield from _changed("host", told(before.host), told(after.host))
    for name, host in before.hosts.items():
        if name in after.hosts:
            yield from _changed(f"{name}'s", told(host), told(after.hosts[name]))
    yield from _changed("version of", before.versions, after.versions)
    yield from _changed("setting", before.settings, after.settings)
    given = [{k: v for k, v in e.variables.items() if k not in e.settings} for e in (before, after)]
    yield from _changed("variable", given[0], given[1])
    yield from _changed("image of", before.images, after.images, brief=True)
    yield from _changed("content of", before.hashes, after.hashes, brief=True)
    yield from _changed("configuration:", before.configuration, after.configuration, brief=True)


def _changed(what: str, old: dict[str, str], new: dict[str, str], brief: bool = False) -> Iterator[str]:
    """brief: the values are too long to be shown. What the old record does not have is no difference."""
    for name in sorted(old):
        if name in new and old[name] != new[name]:
            yield f"{what} {name} changed" + ("" if brief else f": {old[name]} -> {new[name]}")
        elif name not in new:
            yield f"{what} {name} no longer exists"
