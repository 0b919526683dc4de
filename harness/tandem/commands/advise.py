"""`tandem advise`: what a service needs, from the model and the records."""

import re
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from tandem.analysis.advice import Advice, Ask, Checked, Evidence, Sized, advise
from tandem.analysis.stack import calibrated, predict
from tandem.catalog.catalog import Catalog
from tandem.cli.options import RESULTS, ROOT, Json, app, out, print_json
from tandem.errors import TandemError, UsageError, unknown
from tandem.facts.metric import GOODPUT, told_coordinates
from tandem.lab.case import handler_threads, setup_of
from tandem.lab.prepare import scenario_of
from tandem.record.conclusion import Position
from tandem.record.request import Variant
from tandem.record.result import Result
from tandem.record.window import Verdict, Window
from tandem.report.table import Column, table
from tandem.studies.crossover.conclusions import Crossed
from tandem.studies.registry import BELOW, read_folder
from tandem.wording import counted, number

DIRECT_STUDIES = ("bench", "sweep")
"""Studies whose variants are alone in their trials, with a closed window each."""


def milliseconds(option: str, text: str) -> float:
    """`30ms` or `0.8ms`. Raises UsageError."""
    match = re.fullmatch(r"\s*(\d{1,6}(?:\.\d{1,3})?)\s*ms\s*", text, re.ASCII)
    if not match:
        raise UsageError(f"{option} takes milliseconds, such as 30ms or 0.8ms, not '{text}'")
    return float(match[1])


@app.command(name="advise")
def advise_(
    wait: Annotated[
        str | None,
        typer.Option(help="How long a request waits for its database or for others, such as 30ms."),
    ] = None,
    cpu: Annotated[
        str | None, typer.Option(help="CPU time that a request takes in the application, such as 2ms.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Requests per second to serve.")] = None,
    cores: Annotated[int | None, typer.Option(min=1, help="CPU cores for the application.")] = None,
    pool: Annotated[
        int | None, typer.Option(min=0, help="Database connections that it may open. 0: it uses no database.")
    ] = None,
    language: Annotated[str, typer.Option(help="Language whose records the answer uses.")] = "python",
    as_json: Json = False,
) -> None:
    """Recommend model, workers, threads and pool for a service, with the certainty and what would change the answer."""
    catalog = Catalog(ROOT)
    languages = {one.language for one in catalog.implementations.values()}
    if language not in languages:
        raise unknown("language", language, languages)
    wait_ms = milliseconds("--wait", asked("--wait", wait, "How long does a request wait for others (30ms)?"))
    cpu_ms = milliseconds("--cpu", asked("--cpu", cpu, "How much CPU time does it cost (2ms)?"))
    rate_rps = float(asked("--rate", rate, "How many requests per second does it serve?"))
    cores_ = int(asked("--cores", cores, "How many cores does the application have?"))
    pool_ = int(asked("--pool", pool, "How many database connections may it have (0: it needs none)?"))
    if cpu_ms <= 0 or rate_rps <= 0:
        raise UsageError("--cpu and --rate are more than 0")
    ask = Ask(wait_ms=wait_ms, cpu_ms=cpu_ms, pool=pool_ or None, cores=cores_, rate_rps=rate_rps)
    found = advise(ask, evidence(catalog, RESULTS, language))
    if as_json:
        print_json(found)
    else:
        out.print(*lines(found), sep="\n")


def asked(option: str, given: str | float | None, question: str) -> str:
    """Return what was given; on a terminal, ask for what is missing. Raises UsageError."""
    if given is not None:
        return str(given)
    if not sys.stdin.isatty():
        raise UsageError(f"{option} is missing: {question}")
    answer: str = typer.prompt(question)
    return answer


# ---- what the records say ----


def evidence(catalog: Catalog, results: Path, language: str) -> Evidence:
    """Read the evidence of all finished studies of a folder."""
    pairs: dict[str, float] = {}
    checked: list[Checked] = []
    threads_most = 0
    for folder in sorted({file.parent for below in BELOW for file in results.glob(f"{below}/result.json")}):
        try:
            kind, result, trials = read_folder(folder)
        except TandemError:
            continue  # `just report` says what is wrong with it
        name = folder.relative_to(results).as_posix()
        if isinstance(result.conclusions, Crossed):
            checked += _of_crossover(name, result.conclusions)
        if kind.name not in (*DIRECT_STUDIES, "crossover") or not trials:
            continue
        known = {
            variant.label: variant
            for variant in kind(catalog, result.request).variants
            if variant.implementation in catalog.implementations and variant.stand_in is None
        }
        costs: dict[str, list[float]] = {"sync": [], "async": []}
        for label, variant in known.items():
            implementation = catalog.implementations[variant.implementation]
            own = (t for t in trials if t.spec.variants == [label] and t.verdict is Verdict.OK)
            windows = [window for trial in own for window in trial.of(label, "closed")]
            if implementation.language == language and implementation.model in costs and windows:
                cost = (window.app_cpu_us_per_request for window in windows)
                costs[implementation.model] += [one for one in cost if one is not None]
                settings = result.environments[label].settings if label in result.environments else {}
                threads_most = max(threads_most, handler_threads(implementation, settings) or 0)
            if kind.name in DIRECT_STUDIES:
                checked += _of_variant(catalog, name, result, variant, windows)
        if all(costs.values()):
            pairs[name] = statistics.median(costs["async"]) / statistics.median(costs["sync"])
    return Evidence(language=language, pairs=pairs, threads_most=threads_most, checked=checked)


def _of_crossover(name: str, found: Crossed) -> Iterator[Checked]:
    for one in found.predictions:
        measured = found.estimate_of(GOODPUT, Position(one.variant, one.coordinates))
        if measured is not None and measured.mean is not None and one.off is not None:
            yield Checked(
                record=name,
                label=f"{one.variant}, {told_coordinates(one.coordinates)}",
                predicted_rps=one.predicted.throughput_rps,
                measured_rps=measured.mean,
                off=one.off,
                elsewhere=not one.calibrated,
            )


def _of_variant(
    catalog: Catalog, name: str, result: Result[Any], variant: Variant, windows: Sequence[Window]
) -> Iterator[Checked]:
    """Compare the model's prediction from a variant's own CPU times with the measured rate."""
    label, base = variant.label, calibrated(windows)
    if base is None or label not in result.environments:
        return
    scenario = scenario_of(catalog, result.request, variant)
    scenario = scenario.model_copy(update={"connections": windows[0].connections})
    settings = result.environments[label].settings
    setup = setup_of(catalog.implementations[variant.implementation], scenario, settings, base.distance_ms)
    measured = statistics.median(window.goodput_rps for window in windows)
    predicted = predict(base, setup).throughput_rps
    yield Checked(
        record=name,
        label=label,
        predicted_rps=predicted,
        measured_rps=measured,
        off=predicted / measured - 1,
        elsewhere=False,
    )


# ---- for people ----


def lines(found: Advice) -> list[Any]:
    """The answer first, then what it rests on."""
    shown = table(
        "what each model needs",
        (found.chosen, found.other),
        Column("model", lambda one: one.model, text=True),
        Column("workers", lambda one: str(one.workers)),
        Column("threads each", lambda one: "–" if one.threads is None else str(one.threads)),
        Column("at once", lambda one: str(one.in_flight)),
        Column("pool", lambda one: "–" if one.pool is None else str(one.pool)),
        Column("possible 1/s", lambda one: number(one.possible_rps)),
        Column("lacks", lambda one: one.lacks or "nothing", text=True),
    )
    records = sorted({*found.evidence.pairs, *(one.record for one in found.evidence.checked)})
    return [
        Text(f"{sentence(found.chosen)}: {found.why}", style="bold"),
        shown,
        *(Text(f"with {change.what}: {change.then}") for change in found.changes or []),
        *([] if found.changes else [Text("no doubling or halving of one thing would change the model")]),
        Text(f"confidence: {found.confidence}: {'; '.join(found.confidence_why)}"),
        Text(f"records: {', '.join(records) or 'none'}", style="dim"),
    ]


def sentence(sized: Sized) -> str:
    """`sync, 2 workers of 10 threads, pool 20`."""
    threads = f" of {sized.threads} threads" if sized.threads is not None else ""
    pool = f", pool {sized.pool}" if sized.pool is not None else ""
    lacks = ", which is not enough" if sized.lacks else ""
    return f"{sized.model}, {counted(sized.workers, 'workers')}{threads}{pool}{lacks}"
