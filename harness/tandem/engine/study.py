"""What a command adds to the engine: which trials it wants, and what it concludes from them; and which generator sends its
windows."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from typing import Any, ClassVar, Self

from pydantic import JsonValue, ValidationError
from rich.console import RenderableType

from tandem.analysis.ratios import BLOCKS_LEAST
from tandem.catalog.catalog import Catalog
from tandem.catalog.scenario import SCHEDULED
from tandem.engine.blocks import Blocks, in_blocks
from tandem.engine.blocks import in_order as in_order
from tandem.errors import UsageError
from tandem.lab.visit import Windows as Windows
from tandem.load.generator import OHA
from tandem.load.vegeta import VEGETA
from tandem.record.part import Part
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded, Conclusions, Result
from tandem.record.store import explained, file_name
from tandem.record.trial import Arrivals, Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.wording import counted


class Options(Part):
    """The options of a study's request."""

    needs: ClassVar[str]
    """What is said of a request with other options."""

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Raises UsageError, with the first option that cannot be."""
        try:
            return cls(**values)
        except ValidationError as error:
            raise UsageError(f"{cls.needs}: {explained(error).replace('Value error, ', '')}") from None

    @classmethod
    def read(cls, request: Request) -> Self:
        """Raises UsageError."""
        return cls.of(**request.options)

    def as_options(self) -> dict[str, JsonValue]:
        """The options as a request has them: those that are not as they would be anyway."""
        options: dict[str, JsonValue] = self.model_dump(mode="json", exclude_defaults=True)
        return options


type Tell = Callable[[str], None]
"""Says something to a person."""


def silent(text: str) -> None:
    """Tell nobody."""


class Study[C: Conclusions](ABC):
    """One request of one kind. Pure: it starts nothing and reads no clock.

    A study is a generator: `plan` yields blocks of trial specs and receives the trials, `windows` yields the windows
    of one warm start and receives each. So an interrupted study goes on by telling it again what was made. Either may
    `tell` a person what it sees; what `plan` tells before its first block is read before anything starts.
    """

    name: ClassVar[str]
    kind: ClassVar[type[Conclusions]]
    """What `conclude` returns; result.json holds it under `conclusions`."""

    def __init__(self, catalog: Catalog, request: Request) -> None:
        """Raises UsageError for a request that cannot be made."""
        self.catalog, self.request = catalog, request
        self.timing = catalog.plan(request.plan)
        self.tell: Tell = silent
        """The engine sets it."""

    @property
    def variants(self) -> list[Variant]:
        """Everything that appears in a trial; default: what was asked for."""
        return self.request.variants

    @abstractmethod
    def outline(self) -> list[list[TrialSpec]]:
        """The blocks as they are planned; where a study decides as it goes, typical ones, as far as it has decided. The
        estimate is their sum."""

    def plan(self) -> Blocks:
        """Yields blocks and receives their trials; default: the outline, void blocks once more."""
        yield from in_blocks(self.outline())

    def windows(self, spec: TrialSpec) -> Windows:
        """The windows inside a warm start; default: those of the spec."""
        yield from in_order(spec.windows)

    @abstractmethod
    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[C]:
        """What follows from all trials, void ones and repeated ones among them, without the looks at the ceilings:
        these are in the baselines."""

    @classmethod
    @abstractmethod
    def report(cls, result: Result[C]) -> RenderableType:
        """What a person reads: tables, sentences, and pictures (tandem.report.picture), which only pages show."""


def passed_on[R](
    windows: Generator[WindowSpec, WindowRecord, R],
    changed: Callable[[WindowSpec], WindowSpec] = lambda window: window,
    made: Callable[[WindowRecord], None] = lambda record: None,
) -> Generator[WindowSpec, WindowRecord, R]:
    """The windows of a generator, each changed before it is made. made: sees each record before the generator does; a figure has six
    digits from the start, so a study decides as it would when it is told them again."""
    try:
        wanted = next(windows)
        while True:
            record = yield changed(wanted)
            made(record)
            wanted = windows.send(record)
    except StopIteration as end:
        found: R = end.value
        return found


def answered[Q, A, R](questions: Generator[Q, A, R], answer: Callable[[Q], A]) -> R:
    """What a generator returns once all that it asks for was answered."""
    try:
        asked = next(questions)
        while True:
            asked = questions.send(answer(asked))
    except StopIteration as end:
        found: R = end.value
        return found


def generators_of(study: Study[Any]) -> set[str]:
    """The load generators that the windows of a study name."""
    return {window.generator for block in study.outline() for spec in block for window in spec.windows}


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


SPARE_THREADS = 64
"""Threads beside one for each connection: those that wait for the next, and the harness's own connections."""


def held(study: Study[Any]) -> list[tuple[int, int]]:
    """How many connections the loads hold for which a study asks more than its scenario, and how many threads the application
    has for them at the most (0: its own number); the largest first."""
    known, found = {variant.label: variant for variant in study.variants}, set[tuple[int, int]]()
    windows = (window for block in study.outline() for spec in block for window in spec.windows)
    for window in windows:
        for variant in map(known.__getitem__, window.variants):
            changes = {**variant.scenario_changes, **window.scenario_changes}
            connections = max(changes.get("connections", 0), changes.get("idle_connections", 0))
            threads = {**study.request.settings, **variant.settings}.get("THREADS", "")
            most = int(threads) if threads.isdecimal() else 0
            found.add((connections, min(most, connections + SPARE_THREADS)))
    return sorted(found, reverse=True)


INTERVAL_LEAST = 3
"""Blocks of an interval that can decide anything: by Student's t one of two blocks reaches nine times their scatter to
either side, one of three two and a half times."""


def warn_of_too_few(
    tell: Tell, have: int, least: int, what: str, cannot: str, plan: str = "", so: str = ""
) -> None:
    """Say nothing where there are enough. what: is there so often, in the plural; cannot: be found by so few.

    plan: an option with enough; so: what comes out all the same.
    """
    if have >= least:
        return
    named = f" ({plan})" if plan else ""
    told = (
        f"{counted(have, what)} cannot {cannot}: that takes {least}{named}, {least / have:.2g} times as long"
    )
    tell(f"{told}. {so}" if so else told)


def warn_of_too_few_blocks(study: Study[Any], blocks: int, plan: str) -> None:
    """Warn of too few blocks, where several variants are compared."""
    if len(study.request.variants) > 1:
        cannot = "show that two variants differ"
        so = "The result will be figures with intervals, and whether variants are equivalent"
        warn_of_too_few(study.tell, blocks, BLOCKS_LEAST, "blocks", cannot, plan, so)


def shortest_with_enough(catalog: Catalog) -> str:
    """The option for the shortest plan that has enough blocks."""
    enough = [one for one in catalog.plans.values() if one.trials >= BLOCKS_LEAST and one.cpus_least <= 1]
    return f"--plan {min(enough, key=lambda one: one.trials).name}" if enough else ""
