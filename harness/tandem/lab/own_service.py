"""A reader's own service: images that answer a request. The first one's answer is the right one: there is no contract."""

import difflib
import json
import re
import subprocess
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import httpx
from python_on_whales import DockerClient, DockerException

from tandem.catalog.catalog import OWN_SERVICE
from tandem.catalog.ranges import expand
from tandem.errors import TandemError, UsageError
from tandem.hosts.docker import complaint
from tandem.lab.images import BUILT, TAG_DIGITS, reference
from tandem.lab.readiness import NotReadyError, await_health
from tandem.lab.stack import LABEL, tail
from tandem.load.generator import HEADERS
from tandem.record.request import Request, Variant
from tandem.record.window import Finding

BODY_MOST, IDS_MOST = 1 << 18, 1000
"""Bytes of all answers, which each request of a record has, and ids."""
REPEATS = 3
"""Answers of the first image to each path, which have to be the same."""
DIFFERENCE_LINES = 12


@dataclass(frozen=True)
class OwnRequest:
    """What a service is asked. environment: what its container gets besides PORT. ids: ranges that {id} in the path is drawn
    from. body: of a POST; None: it is a GET. headers: besides the generator's own."""

    path: str
    port: int = 8080
    environment: Mapping[str, str] = field(default_factory=dict)
    ids: str = ""
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises UsageError."""
        for name, value in self.environment.items():
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or not value.isprintable():
                raise UsageError(
                    f"--env takes NAME=VALUE: a variable's name and a line, not '{name}={value}'"
                )
        if not re.fullmatch(r"/[!-~]*", self.path):
            raise UsageError(f"--get and --post take a path such as /cart/7, not '{self.path}'")
        for name, value in self.headers.items():
            if not re.fullmatch(r"[A-Za-z0-9-]+", name) or not re.fullmatch(r"[ -~]+", value):
                raise UsageError(f"--header takes NAME=VALUE such as Accept=text/html, not '{name}={value}'")
            if name.lower() in ("host", "content-length"):
                raise UsageError(f"--header {name}: the generator sets it itself")
        if ("{id}" in self.path) != bool(self.ids):
            raise UsageError("{id} in --get and --ids need each other: --get '/cart/{id}' --ids 1-50")
        if self.ids and not re.fullmatch(r"\d{1,9}(-\d{1,9})?(,\d{1,9}(-\d{1,9})?)*", self.ids, re.ASCII):
            raise UsageError(f"--ids takes ranges of whole numbers such as 1-50,60, not '{self.ids}'")
        spans = [span.partition("-") for span in self.ids.split(",") if span]
        number = sum(max(0, int(high or low) - int(low) + 1) for low, _, high in spans)
        if self.ids and not 0 < number <= IDS_MOST:
            raise UsageError(f"--ids {self.ids} are {number:,} ids; it takes 1 to {IDS_MOST:,}")

    @property
    def method(self) -> str:
        return "GET" if self.body is None else "POST"

    @property
    def paths(self) -> dict[int | None, str]:
        """Id -> the path with it; None -> the path, where it has none."""
        ids: list[int | None] = [*expand(self.ids)] if self.ids else [None]
        return {key: self.path.replace("{id}", str(key)) for key in ids}

    def changes(self, right: Mapping[int | None, "OwnAnswer"]) -> dict[str, object]:
        """The scenario (harness/service) with this request and its right answers. Raises UsageError for answers by id that are no text
        of one type."""
        own: dict[str, object] = {"path": self.path, "headers": dict(self.headers), "method": self.method}
        if self.body is not None:
            own["body"] = {"text": self.body}
        if not self.ids:
            return {**own, "answer": right[None].as_answer}
        types = {one.media_type for one in right.values()}
        try:
            texts = {key: one.body.decode() for key, one in right.items()}
        except UnicodeDecodeError:
            texts = {}
        if len(types) > 1 or not texts:
            raise UsageError(f"the answers to {self.path} are no UTF-8 text of one type, which --ids needs")
        return {**own, "ids": [self.ids], "answer": {"texts": texts, "media_type": types.pop()}}


@dataclass(frozen=True)
class OwnAnswer:
    media_type: str
    body: bytes
    """As it travels."""

    def lines(self) -> list[str]:
        """As a person compares it: JSON a value per line."""
        try:
            return [self.media_type, *json.dumps(json.loads(self.body), indent=1).splitlines()]
        except ValueError:
            return [self.media_type, *self.body.decode(errors="replace").splitlines()]

    @property
    def as_answer(self) -> dict[str, str]:
        """The answer of a scenario (tandem.catalog.scenario.Answer)."""
        try:
            return {"text": self.body.decode(), "media_type": self.media_type}
        except UnicodeDecodeError:
            return {"base64": b64encode(self.body).decode(), "media_type": self.media_type}


def variants(images: Sequence[str], request: OwnRequest, note: Callable[[str], None]) -> list[Variant]:
    """A variant of each image, once all have given the first one's answer. Raises UsageError where an image is not there,
    TandemError where one never answers, or otherwise."""
    names = list(dict.fromkeys(images))
    tags = {name: _tagged(name, request) for name in names}
    note(f"own service: asking {', '.join(names)} for {request.path}")
    right, *others = [
        _answers(name, tags[name], request, REPEATS if name == names[0] else 1) for name in names
    ]
    for name, other in zip(names[1:], others, strict=True):
        for key, path in request.paths.items():
            if other[key] != right[key]:
                told = difference(right[key], other[key])
                raise TandemError(
                    f"{name} answers {request.method} {path} otherwise than {names[0]}:\n{told}"
                )
    changes = request.changes(right)
    return [
        Variant(
            label=name,
            implementation=OWN_SERVICE,
            tag=tags[name],
            scenario_changes=changes,
            # Its servers may start as root and drop it, which takes capabilities that no implementation needs.
            variables={"APP_PORT": str(request.port), "APP_CAP_DROP": "AUDIT_WRITE"},
        )
        for name in names
    ]


def findings(request: Request) -> list[Finding]:
    """What the answers of a request's own service are held to."""
    own = [variant for variant in request.variants if variant.implementation == OWN_SERVICE]
    if not own:
        return []
    held = f"answers are verified against those of {own[0].label}, not against a contract"
    return [Finding.of("baseline-answers", "warning", held)]


def difference(right: OwnAnswer, other: OwnAnswer) -> str:
    """The first lines that differ, - of the right one and + of the other."""
    lines = list(difflib.unified_diff(right.lines(), other.lines(), lineterm="", n=1))[2:]
    more = [f"… and {len(lines) - DIFFERENCE_LINES} more lines"] if len(lines) > DIFFERENCE_LINES else []
    return "\n".join([line[:120] for line in lines[:DIFFERENCE_LINES]] + more)


def recipe(name: str, environment: Mapping[str, str]) -> str:
    """A Dockerfile that gives an image its environment and a label of ours. A value stands in quotes, in which `$`, `"` and the
    backslash are escaped. https://docs.docker.com/reference/dockerfile/#env"""
    quoted = {key: re.sub(r'([\\"$])', r"\\\1", value) for key, value in environment.items()}
    lines = [f"FROM {name}", *(f'ENV {key}="{value}"' for key, value in quoted.items())]
    return "\n".join([*lines, f"LABEL {BUILT}=service", ""])


def _tagged(name: str, request: OwnRequest) -> str:
    """Gives an image a name and a label of ours, and its environment; returns the tag."""
    docker = DockerClient()
    try:
        image = docker.image.inspect(name)
    except DockerException:
        raise UsageError(f"this engine has no image '{name}': build it, or docker pull {name}") from None
    made = recipe(name, request.environment)
    tag = sha256(f"{image.id}\n{made}".encode()).hexdigest()[:TAG_DIGITS]
    if not docker.image.exists(reference(OWN_SERVICE, tag)):
        command = [
            "docker",
            "buildx",
            "build",
            "--quiet",
            "--load",
            "--tag",
            reference(OWN_SERVICE, tag),
            "-",
        ]
        done = subprocess.run(command, input=made, capture_output=True, text=True, check=False)
        if done.returncode:
            raise TandemError(f"the image of {name} cannot be given a name of ours:\n{tail(done.stderr)}")
    return tag


def _answers(name: str, tag: str, request: OwnRequest, times: int) -> dict[int | None, OwnAnswer]:
    """What a fresh container of an image answers for each id, each time the same."""
    paths, image = request.paths, reference(OWN_SERVICE, tag)
    how: dict[str, Any] = {"envs": {"PORT": str(request.port)}, "labels": {LABEL: "stack"}}
    try:
        container = DockerClient().run(image, detach=True, cap_drop=["AUDIT_WRITE"], **how)
    except DockerException as error:
        raise TandemError(f"{name} does not start: {complaint(error)}") from None

    def alive() -> None:
        container.reload()  # type: ignore[no-untyped-call]
        if not container.state.running:
            raise TandemError(
                f"{name} ended with status {container.state.exit_code}:\n{tail(container.logs())}"
            )

    try:
        container.reload()  # type: ignore[no-untyped-call]
        networks = (container.network_settings.networks or {}).values()
        address = f"{next(iter(networks)).ip_address}:{request.port}"
        try:
            await_health(address, alive, next(iter(paths.values())), None)
        except NotReadyError as error:
            raise TandemError(f"{name}: {error}\n{tail(container.logs())}") from None
        found = {key: [_asked(address, path, request) for _ in range(times)] for key, path in paths.items()}
    finally:
        container.remove(force=True, volumes=True)
    for key, (first, *again) in found.items():
        if different := [one for one in again if one != first]:
            told = difference(first, different[0])
            raise UsageError(
                f"{name} answers {request.method} {paths[key]} otherwise each time, so no answer can be held to another:\n{told}"
            )
    if (size := sum(len(first.body) for first, *_ in found.values())) > BODY_MOST:
        raise UsageError(f"{name} answers with {size:,} bytes in all; {BODY_MOST:,} are the limit")
    return {key: first for key, (first, *_) in found.items()}


def _asked(address: str, path: str, request: OwnRequest) -> OwnAnswer:
    """Raises TandemError where it is not answered, or not with status 200."""
    json_type = {} if request.body is None else {"content-type": "application/json"}
    headers = {**HEADERS, **json_type, **{name.lower(): value for name, value in request.headers.items()}}
    how: dict[str, Any] = {"headers": headers, "content": request.body, "timeout": 10}
    try:
        with httpx.stream(request.method, f"http://{address}{path}", **how) as answer:
            body = b"".join(answer.iter_raw())
    except httpx.HTTPError as error:
        raise TandemError(f"{request.method} {path} is not answered: {error!r}") from None
    if answer.status_code != 200:
        raise TandemError(
            f"{request.method} {path} has status {answer.status_code}: {body[:80].decode(errors='replace')}"
        )
    return OwnAnswer(answer.headers.get("content-type", "").partition(";")[0].strip().lower(), body)
