"""A service file: what a reader's own service is asked, and how it is started. Pure but for reading."""

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from tandem.catalog.ranges import expand
from tandem.catalog.toml import parsed, read_toml
from tandem.errors import UsageError

PATHS_MOST = 1000
"""Most different paths of one request."""
VALUES_MOST = 20_000
VALUES_BYTES = 1 << 20
"""Largest size of a file of values."""
SLUG = r"[a-z0-9]+(-[a-z0-9]+)*"


def _environment(given: dict[str, str]) -> dict[str, str]:
    for name, value in given.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or not value.isprintable():
            raise ValueError(f"'{name}={value}' is not a variable's name and a line")
    return given


def _headers(given: dict[str, str]) -> dict[str, str]:
    for name, value in given.items():
        if not re.fullmatch(r"[A-Za-z0-9-]+", name) or not re.fullmatch(r"[ -~]+", value):
            raise ValueError(f"'{name}={value}' is no header such as Accept=text/html")
        if name.lower() in ("host", "content-length"):
            raise ValueError(f"{name}: the generator sets it itself")
    return given


def _path(given: str) -> str:
    if not re.fullmatch(r"/[!-~]*", given) and given != "{id}":
        raise ValueError(f"a path such as /cart/7 is needed, not '{given}'")
    return given


Environment = Annotated[dict[str, str], AfterValidator(_environment)]


class Model(BaseModel):
    """A part of a service file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class OwnRequest(Model):
    """A table [[request]]. `{id}` in its path stands for one of `ids` or `values`, drawn for each request."""

    name: Annotated[str, Field(pattern=f"^({SLUG})?$")] = ""
    """Name of its class, where there are several. Default: made of method and path."""
    weight: Annotated[int, Field(ge=1)] = 1
    """Share of all requests, by the sum of the weights."""
    method: Literal["GET", "POST", "PUT", "DELETE"] = "GET"
    path: Annotated[str, AfterValidator(_path)]
    """`{id}` alone: `values` are whole paths."""
    ids: str = ""
    """Whole numbers as ranges, such as 1-50,60."""
    values: list[str] = []
    """Values that `{id}` stands for. What is there twice is drawn twice as often."""
    values_file: str = ""
    """A file beside this one with a value on each line, or in the first column of a CSV."""
    body: str | None = None
    """JSON, unless a header Content-Type says otherwise."""
    headers: Annotated[dict[str, str], AfterValidator(_headers)] = {}
    status: Annotated[int, Field(ge=200, le=299)] = 200
    ignore: list[Annotated[str, Field(pattern=r"^[^.]+(\.[^.]+)*$")]] = []
    """Paths in a JSON answer whose values may differ, such as created_at or items.*.id."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.body is not None and self.method in ("GET", "DELETE"):
            raise ValueError(f"a {self.method} has no body here")
        if sum(map(bool, (self.ids, self.values, self.values_file))) > 1:
            raise ValueError("give one of ids, values and values_file")
        if ("{id}" in self.path) != bool(self.ids or self.values or self.values_file):
            raise ValueError(
                "{id} in the path and what it stands for need each other: /cart/{id} and 1-50 for ids"
            )
        if self.ids and not re.fullmatch(r"\d{1,9}(-\d{1,9})?(,\d{1,9}(-\d{1,9})?)*", self.ids, re.ASCII):
            raise ValueError(f"ids are ranges of whole numbers such as 1-50,60, not '{self.ids}'")
        spans = [span.partition("-") for span in self.ids.split(",") if span]
        number = sum(max(0, int(high or low) - int(low) + 1) for low, _, high in spans)
        if self.ids and not 0 < number <= PATHS_MOST:
            raise ValueError(f"{self.ids} are {number:,} ids; 1 to {PATHS_MOST:,} can be asked")
        for key in self.values:
            _path(self.path.replace("{id}", key))
        if len({*self.values}) > PATHS_MOST or len(self.values) > VALUES_MOST:
            raise ValueError(f"at most {PATHS_MOST:,} different values can be asked, {VALUES_MOST:,} in all")
        return self

    @property
    def shown_name(self) -> str:
        """What its class is called."""
        return self.name or "-".join(re.findall(r"[a-z0-9]+", f"{self.method} {self.path}".lower()))

    @property
    def drawn(self) -> list[str]:
        """All that {id} stands for, as often as it is drawn."""
        return self.values or [str(number) for number in expand(self.ids)]

    @property
    def paths(self) -> dict[str, str]:
        """What stands for {id} -> the path with it; "" -> the path, where it has none."""
        return {key: self.path.replace("{id}", key) for key in self.drawn or [""]}


class OwnService(Model):
    """A service of the reader's own (docs/how-to/measure-your-own-service.md)."""

    images: list[str] = []
    """Images of this machine's engine, where the command line names none. The first is the baseline."""
    port: Annotated[int, Field(ge=1, le=65535)] = 8080
    """Port at which it listens. Its container gets the number as PORT, too."""
    ready: Annotated[str, Field(pattern="^(/[!-~]*)?$")] = ""
    """A path that is answered with a status below 500 once it is up. Default: the first request's."""
    connections: Annotated[int, Field(ge=1, le=10_000)] = 20
    """Connections of the load."""
    slo: str = ""
    """Objective of `capacity`, such as p99=50ms."""
    environment: Environment = {}
    """Environment of its container."""
    compose: str = ""
    """A Compose file beside this one. The images take the place of its `service`, with the environment that it has there; the
    others run beside it."""
    service: str = ""
    """The service of the Compose file that is measured."""
    database: str = ""
    """An SQL file beside this one; an empty one is an empty database. The laboratory's PostgreSQL begins each start with what it makes,
    and DATABASE_URL has its address. Its statements are counted."""
    request: Annotated[list[OwnRequest], Field(min_length=1, max_length=20)]

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if bool(self.compose) != bool(self.service):
            raise ValueError(
                "compose and service need each other: a Compose file, and which of it is measured"
            )
        for what in ({(one.method, one.path) for one in self.request}, {r.shown_name for r in self.request}):
            if len(what) < len(self.request):
                raise ValueError("two requests have the same name, or the same method and path")
        return self

    @property
    def ready_path(self) -> str:
        return self.ready or next(iter(self.request[0].paths.values()))

    def scenario_changes(self, answers: list[dict[str, Any]]) -> dict[str, Any]:
        """Fields of a scenario (tandem.catalog.scenario.Scenario), with the right answers of each request; several are a mix."""
        first, *others = [_fields(one, answer) for one, answer in zip(self.request, answers, strict=True)]
        common = {"connections": self.connections, "ready": self.ready_path}
        if not others:
            return {**first, **common}
        plain = {"stresses": "a request of a service of your own", "statements": [], **common}
        beside = [
            {"weight": one.weight, "scenario": {"name": one.shown_name, **plain, **fields}}
            for one, fields in zip(self.request[1:], others, strict=True)
        ]
        own = {"own_class": self.request[0].shown_name, "weight": self.request[0].weight}
        return {**first, **common, **own, "beside": beside}


def _fields(request: OwnRequest, answer: dict[str, Any]) -> dict[str, Any]:
    """Fields of a scenario with one class of requests."""
    own: dict[str, Any] = request.model_dump(include={"method", "path", "headers", "status"})
    own["answer"] = {**answer, "ignore": request.ignore}
    if request.body is not None:
        own["body"] = {"text": request.body}
    return {**own, "values": request.drawn} if request.drawn else own


def read_service(file: Path, further: Mapping[str, Any] | None = None) -> OwnService:
    """Read a service file. further: laid over it. Raises UsageError, naming the file and the key."""
    data = {**read_toml(file), **(further or {})}
    service = parsed(OwnService, data, file)
    with_values = [
        one.model_dump() | {"values": _values(file.parent / one.values_file), "values_file": ""}
        if one.values_file
        else one.model_dump()
        for one in service.request
    ]
    files = {"compose": service.compose, "database": service.database}
    resolved = {key: str((file.parent / name).resolve()) if name else "" for key, name in files.items()}
    return parsed(OwnService, {**service.model_dump(), **resolved, "request": with_values}, file)


def service_of(**given: Any) -> OwnService:
    """A service of options. Raises UsageError."""
    try:
        return OwnService.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part not in ("request", 0))
        told = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{where}: {told}" if where else told) from None


def _values(file: Path) -> list[str]:
    """The first column of each line. Raises UsageError."""
    try:
        if file.stat().st_size > VALUES_BYTES:
            raise UsageError(f"{file}: larger than {VALUES_BYTES >> 20} MiB")
        with file.open(newline="") as stream:
            found = [row[0].strip() for row in csv.reader(stream) if row and row[0].strip()]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{file}: cannot be read: {error}") from None
    if not found:
        raise UsageError(f"{file}: there is no value in it")
    return found
