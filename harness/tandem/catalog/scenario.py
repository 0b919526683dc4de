"""What the client asks for: the types of loadgen/scenarios/*.toml. Pure."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal
from urllib.parse import parse_qs, urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tandem.catalog.ranges import expand

SCHEDULED = ("beside", "retries", "requests_per_connection")
"""Fields that only a generator with a schedule can follow."""
WHOLE_WINDOWS = "its requests follow a schedule, which needs whole windows"
"""Why it is not measured in slices."""
EARLY_MS = 2.0
"""A timer may fire so early: some count whole milliseconds. The contract's own check forgives as much."""


class Entry(BaseModel):
    """A thing that a file describes; `name` is the folder's or file's own."""

    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))
    name: str


class Body(BaseModel):
    """What a request carries: a text as it stands, or a generated JSON array of whole numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    text: str | None = None
    integers_to: Annotated[int, Field(ge=1)] | None = None
    """Last of the numbers 1, 2, … in the array."""
    repeated: Annotated[int, Field(ge=1)] = 1
    """How often the array has the numbers, one after the other."""
    drawn: Annotated[int, Field(ge=1)] = 1
    """How many arrays the load's requests are drawn from: each has other numbers, of as many digits as these."""

    @model_validator(mode="after")
    def _one(self) -> "Body":
        if (self.text is None) == (self.integers_to is None):
            raise ValueError("needs either `text` or `integers_to`")
        if self.text is not None and self.drawn > 1:
            raise ValueError("`drawn` needs `integers_to`")
        return self

    def bytes(self) -> bytes:
        """The body as it travels. A generated array has a space after each comma, as in the origin documents."""
        if self.text is not None:
            return self.text.encode()
        return json.dumps(self.numbers()).encode()

    def numbers(self) -> list[int]:
        """The numbers of a generated array."""
        assert self.integers_to is not None
        return [*range(1, self.integers_to + 1)] * self.repeated


class Answer(BaseModel):
    """What a right body is: exactly one of these."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    golden: Literal["recipes", "dashboards"] | None = None
    """The golden body (contract/golden) of the recipe that it names, or of the session's user."""
    ids: list[str] = []
    """Golden recipes that can come, as ranges; where it is not given, those that are asked for."""
    file: str | None = None
    """The bytes of this file of contract/."""
    text: str | None = None
    base64: str | None = None
    """Bytes that are no text, such as compressed ones."""
    texts: dict[str, str] | None = None
    """What stands for {id} in the request's path (`values`) -> text."""
    media_type: str = "text/plain"
    """Media type in Content-Type, beside `text`, `texts` and `base64`; empty: any."""
    sum_digits: Annotated[int, Field(ge=1)] | None = None
    """`Sum: N`, N the sum of the numbers in the request's own body; it has always so many digits."""
    created: str | None = None
    """`{"id":N}`, and a row in this table for each answer."""
    ignore: list[str] = []
    """Paths in JSON whose values are not compared, beside `text` and `texts` (tandem.catalog.golden)."""

    @model_validator(mode="after")
    def _one(self) -> "Answer":
        kinds = ("golden", "file", "text", "texts", "base64", "sum_digits", "created")
        if [getattr(self, kind) for kind in kinds].count(None) != len(kinds) - 1:
            raise ValueError(f"needs exactly one of {', '.join(kinds)}")
        return self


class Preparation(BaseModel):
    """A request that is sent so many times to a fresh application, before anything is verified or measured."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    method: Literal["POST", "PUT"]
    path: str
    times: Annotated[int, Field(ge=1)]


class OtherClass(BaseModel):
    """Requests of another class that come among a scenario's own."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    weight: Annotated[int, Field(ge=1)]
    scenario: "Scenario"


class Mix(Entry):
    """Several scenarios at once (loadgen/scenarios/*.toml). The first is the one that the others come among."""

    stresses: str
    version: Annotated[int, Field(ge=1)] = 1
    connections: Annotated[int, Field(ge=1)]
    mix: Annotated[dict[str, Annotated[int, Field(ge=1)]], Field(min_length=2)]
    """Scenario -> its weight: of the requests it has this share of the sum."""
    changes: dict[str, dict[str, Any]] = {}
    """Scenario -> fields that are laid over it here."""

    def scenario(self, known: Mapping[str, "Scenario"]) -> "Scenario":
        """The mix as one scenario. Raises KeyError for a scenario that is not known, ValueError for one that cannot be in a mix."""
        parts = {name: known[name].with_changes(self.changes.get(name, {})) for name in self.mix}
        for name, part in parts.items():
            if part.beside or part.idle_connections or part.before:
                raise ValueError(f"{name} is a mix, or has silent connections or a preparation")
        (first, weight), *others = self.mix.items()
        return parts[first].model_copy(
            update={
                "name": self.name,
                "stresses": self.stresses,
                "version": self.version,
                "connections": self.connections,
                "timeout_s": max(part.timeout_s for part in parts.values()),
                "own_class": first,
                "weight": weight,
                "beside": [OtherClass(weight=own, scenario=parts[name]) for name, own in others],
            }
        )


class Scenario(Entry):
    """What the client asks for (loadgen/scenarios/*.toml)."""

    stresses: str
    version: Annotated[int, Field(ge=1)] = 1
    """Version, raised by hand when what requests ask for changes: sessions of two versions are kept apart."""
    method: Literal["GET", "POST", "PUT", "DELETE"] = "GET"
    path: str
    """Path of the request; `{id}` stands for one of `ids`, drawn by the generator for each request."""
    ids: list[str] = []
    """Ranges such as "1-24", both ends included."""
    values: list[str] = []
    """Values of a reader's own service in place of `ids`. What is there twice is drawn twice as often."""
    ready: str = ""
    """Path that tells that a reader's own service is up; empty: that of the request."""
    body: Body | None = None
    headers: dict[str, str] = {}
    """Further headers of each request."""
    session_user: int | None = None
    connections: Annotated[int, Field(ge=1)]
    idle_connections: Annotated[int, Field(ge=0)] = 0
    """Further connections that are open, have sent one request each and stay silent."""
    statements: list[str]
    """What one request runs, once each: queries of the contract by file name, `begin`, `commit`."""
    status: int = 200
    answer: Answer
    before: Preparation | None = None
    timeout_s: Annotated[int, Field(ge=1, le=300)] = 10
    """How long a request may take; what takes longer has failed, or is sent again."""
    retries: Annotated[int, Field(ge=0, le=10)] = 0
    """How often a client sends a request again that has no answer."""
    requests_per_connection: Annotated[int, Field(ge=0)] = 0
    """Requests of which one is the last of its connection; 0: connections stay."""
    refused_most: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    """Share of the requests that may be refused with 503, of a load that is meant to be too much."""
    unsliced: str | None = None
    """Why a comparison cannot measure it in slices."""
    topology: str | None = None
    """What stands in the path unless the user chooses; None: the harness's default."""
    own_class: str | None = None
    """Scenario whose requests are a mix's own: all other fields are of these."""
    weight: Annotated[int, Field(ge=1)] = 1
    """Weight of its own requests: their share by the sum of all."""
    beside: list[OtherClass] = []
    """The other classes of a mix."""

    @model_validator(mode="after")
    def _sums(self) -> "Scenario":
        numbers = self.body is not None and self.body.integers_to is not None
        if self.answer.sum_digits is not None and not numbers:
            raise ValueError("`answer.sum_digits` needs `body.integers_to`")
        if self.answer.sum_digits is None and self.body is not None and self.body.drawn > 1:
            raise ValueError("`body.drawn` needs `answer.sum_digits`")
        return self

    def with_changes(self, changes: Mapping[str, object]) -> "Scenario":
        """The scenario with some fields laid over it. Raises ValidationError."""
        return Scenario.model_validate({**self.model_dump(), **changes}) if changes else self

    def asked_with(self, statements: Mapping[str, list[str]]) -> "Scenario":
        """The scenario as a program with statements of its own is asked. statements: of bench.toml."""
        own = statements.get(self.own_class or self.name, self.statements)
        beside = [
            one.model_copy(update={"scenario": one.scenario.asked_with(statements)}) for one in self.beside
        ]
        return self.model_copy(update={"statements": own, "beside": beside})

    @property
    def parts(self) -> list["Scenario"]:
        """The classes of its requests, each as a scenario with its weight; most have one."""
        if not self.beside:
            return [self]
        own = self.model_copy(update={"name": self.own_class, "beside": []})
        return [own, *(one.scenario.model_copy(update={"weight": one.weight}) for one in self.beside)]

    @property
    def scheduled(self) -> bool:
        """Whether only a generator with a schedule can send it."""
        return any(getattr(self, field) for field in SCHEDULED)

    @property
    def patience_s(self) -> int:
        """How long a client waits in all."""
        return self.timeout_s * (1 + self.retries)

    @property
    def delay_ms(self) -> int:
        """What a request asks to be waited for."""
        asked = parse_qs(urlsplit(self.path).query).get("delay_ms", ["0"])[0]
        return int(asked) if asked.isdecimal() else 0

    @property
    def in_turn(self) -> int:
        """How many of its statements wait for one before: the reads of a dashboard may run at once, and BEGIN may travel
        with the statement after it."""
        reads = sum(name.startswith("dashboard_") for name in self.statements)
        return len(self.statements) - self.statements.count("begin") - max(0, reads - 1)

    @property
    def keys(self) -> Sequence[int | str]:
        """All that `{id}` stands for."""
        return self.values or self.expanded_ids

    def path_of(self, key: int | str | None) -> str:
        """The path with a key in it."""
        return self.path.replace("{id}", str(key))

    @cached_property
    def expanded_ids(self) -> list[int]:
        """All ids of the ranges, ascending as written."""
        return expand(",".join(self.ids))
