"""What a command adds to the engine: which trials it wants, and what it concludes from them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import JsonValue, ValidationError
from rich.console import RenderableType

from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import Blocks, in_blocks
from tandem.errors import UsageError, unknown
from tandem.lab.visit import Windows as Windows
from tandem.record.part import Part
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded, Conclusions, Result
from tandem.record.trial import Trial, TrialSpec, WindowRecord
from tandem.report.picture import Picture


class Options(Part):
    """The options of a study's request."""

    needs: ClassVar[str]
    """What is said of a request with other ones."""

    @classmethod
    def read(cls, request: Request) -> Self:
        """Raises UsageError."""
        try:
            return cls.model_validate(request.options)
        except ValidationError as error:
            raise UsageError(f"{cls.needs}: {error}") from None

    def as_options(self) -> dict[str, JsonValue]:
        """As a request has them."""
        options: dict[str, JsonValue] = self.model_dump()
        return options


def of_rows[T](rows: Sequence[str], known: Mapping[str, T]) -> list[T]:
    """What is known of these rows, in the order of `known`, each once. Raises UsageError for a row that is not known."""
    for row in rows:
        if row not in known:
            raise unknown("row", row, known)
    return [value for row, value in known.items() if row in rows]


class Study[C: Conclusions](ABC):
    """One request of one kind. Pure: it starts nothing and reads no clock.

    A study is a generator: `plan` yields blocks of trial specs and receives the trials, `windows` yields the windows
    of one warm start and receives each. So an interrupted study goes on by telling it again what was made.
    """

    name: ClassVar[str]
    kind: ClassVar[type[Conclusions]]
    """What `conclude` returns; result.json holds it under `conclusions`."""
    whole: ClassVar[str | None] = None
    """Why no part of a record of it is measured again without the rest, in words; None: `only` says what a part is."""

    def __init__(self, catalog: Catalog, request: Request) -> None:
        """Raises UsageError for a request that cannot be made."""
        self.catalog, self.request = catalog, request
        self.timing = catalog.plan(request.plan)

    @property
    def looks_at_ceilings(self) -> bool:
        """Whether each block has short looks at the ceilings; default: what the plan says."""
        return self.timing.ceilings

    @property
    def holds(self) -> list[tuple[int, int]]:
        """How many connections its loads hold, and how many threads the application has for them (0: not one for each), where
        a host may not have so many; default: none."""
        return []

    @property
    def variants(self) -> list[Variant]:
        """Everything that appears in a trial; default: what was asked for."""
        return self.request.variants

    @abstractmethod
    def outline(self) -> list[list[TrialSpec]]:
        """The blocks as they are planned; where a study decides as it goes, typical ones. The estimate is their sum."""

    def plan(self) -> Blocks:
        """Yields blocks and receives their trials; default: the outline, void blocks once more."""
        yield from in_blocks(self.outline())

    def windows(self, spec: TrialSpec) -> Windows:
        """The windows inside a warm start; default: those of the spec."""
        # A list cannot be sent anything: no `yield from`.
        for window in spec.windows:  # noqa: UP028
            yield window

    @classmethod
    def today(cls, catalog: Catalog, request: Request) -> Request:
        """A recorded request as it would be asked today; default: as it is. Raises UsageError for what is no longer there."""
        return request

    @classmethod
    def only(cls, catalog: Catalog, request: Request, rows: Sequence[str]) -> Request:
        """A recorded request of these rows alone, in its own order; default: a row is a variant. Raises UsageError for a row
        that there is not, and where the study has a reason to be made as a whole."""
        if cls.whole is not None:
            raise UsageError(f"--only is not for records of {cls.name}: {cls.whole}")
        variants = of_rows(rows, {variant.label: variant for variant in request.variants})
        return request.model_copy(update={"variants": variants})

    def ahead(self, expected_s: float) -> list[str]:
        """What a person is told before anything starts, such as what so short a plan cannot decide. expected_s: the
        estimate."""
        return []

    def news(self) -> list[str]:
        """What its plan has to tell a person before the next block, once; where there is any, the outline makes a new
        estimate. Default: nothing."""
        return []

    def line(self, made: Trial | WindowRecord) -> str | None:
        """What a person is told of a window or a trial that was made; None: nothing of a window, and of a trial what
        tandem.engine.run.summary says."""
        return None

    @abstractmethod
    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[C]:
        """What follows from all trials, void ones and repeated ones among them, without the looks at the ceilings:
        these are in the baselines."""

    @classmethod
    @abstractmethod
    def report(cls, result: Result[C]) -> RenderableType:
        """What a person reads."""

    @classmethod
    def pictures(cls, result: Result[C]) -> list[Picture]:
        """What the result pages draw besides the tables and sentences of the report, which they always show; default:
        nothing."""
        return []

    @classmethod
    def headline(cls, conclusions: dict[str, Any]) -> str:
        """The main figure in a few words, for lists of results. conclusions: as result.json has them, not validated;
        a KeyError, TypeError or ValueError means that they do not tell."""
        return ""


def generators_of(study: Study[Any]) -> set[str]:
    """The load generators that the windows of a study name."""
    return {window.generator for block in study.outline() for spec in block for window in spec.windows}
