"""A reader's own service: images that answer one request. The first one's answer is the right one: there is no contract."""

import difflib
import json
import re
import subprocess
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

import httpx
from python_on_whales import DockerClient, DockerException

from tandem.catalog.catalog import OWN_SERVICE
from tandem.errors import TandemError, UsageError
from tandem.lab.images import BUILT, TAG_DIGITS, reference
from tandem.lab.readiness import NotReadyError, await_health
from tandem.lab.stack import LABEL, tail
from tandem.load.generator import HEADERS
from tandem.record.request import Request, Variant
from tandem.record.window import Finding

BODY_MOST = 1 << 18
"""Bytes of an answer: each request of a record has it."""
ALIKE = 3
"""Answers of the first image that have to be the same."""
DIFFERENCE_LINES = 12


@dataclass(frozen=True)
class OwnRequest:
    """What a service is asked. environment: what its container gets besides PORT."""

    path: str
    port: int
    environment: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Raises UsageError."""
        for name, _ in self.environment:
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                raise UsageError(f"--env takes NAME=VALUE, and '{name}' is no name of a variable")
        if not re.fullmatch(r"/[!-~]*", self.path):
            raise UsageError(f"--get takes a path such as /cart/7, not '{self.path}'")


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
    tags = {name: _made_ours(name, request) for name in names}
    note(f"own service: asking {', '.join(names)} for {request.path}")
    right, *others = [_answers(name, tags[name], request, ALIKE if name == names[0] else 1) for name in names]
    for name, other in zip(names[1:], others, strict=True):
        if other != right:
            raise TandemError(
                f"{name} answers GET {request.path} otherwise than {names[0]}:\n{difference(right, other)}"
            )
    return [
        Variant(
            label=name,
            implementation=OWN_SERVICE,
            tag=tags[name],
            scenario_changes={"path": request.path, "answer": right.as_answer},
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


def _made_ours(name: str, request: OwnRequest) -> str:
    """Gives an image a name and a label of ours, and its environment; returns the tag."""
    docker = DockerClient()
    try:
        image = docker.image.inspect(name)
    except DockerException:
        raise UsageError(f"this engine has no image '{name}': build it, or docker pull {name}") from None
    environment = [f"ENV {key}={json.dumps(value)}".replace("$", r"\$") for key, value in request.environment]
    recipe = "\n".join([f"FROM {name}", *environment, f"LABEL {BUILT}=service", ""])
    tag = sha256(f"{image.id}\n{recipe}".encode()).hexdigest()[:TAG_DIGITS]
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
        done = subprocess.run(command, input=recipe, capture_output=True, text=True, check=False)
        if done.returncode:
            raise TandemError(f"the image of {name} cannot be given a name of ours:\n{tail(done.stderr)}")
    return tag


def _answers(name: str, tag: str, request: OwnRequest, times: int) -> OwnAnswer:
    """What a fresh container of an image answers, each time the same."""
    docker = DockerClient()
    container = docker.run(
        reference(OWN_SERVICE, tag),
        detach=True,
        envs={"PORT": str(request.port)},
        labels={LABEL: "stack"},
        cap_drop=["AUDIT_WRITE"],
    )
    try:
        container.reload()  # type: ignore[no-untyped-call]
        address = next(iter((container.network_settings.networks or {}).values())).ip_address

        def alive() -> None:
            container.reload()  # type: ignore[no-untyped-call]
            if not container.state.running:
                raise TandemError(
                    f"{name} ended with status {container.state.exit_code}:\n{tail(container.logs())}"
                )

        try:
            await_health(f"{address}:{request.port}", alive, request.path)
        except NotReadyError as error:
            raise TandemError(f"{name}: {error}\n{tail(container.logs())}") from None
        found = [_asked(f"http://{address}:{request.port}{request.path}") for _ in range(times)]
    finally:
        container.remove(force=True, volumes=True)
    if len(set(found)) > 1:
        different = next(one for one in found if one != found[0])
        raise UsageError(
            f"{name} answers GET {request.path} otherwise each time, so no answer can be held to another:\n{difference(found[0], different)}"
        )
    return found[0]


def _asked(url: str) -> OwnAnswer:
    with httpx.stream("GET", url, headers=HEADERS, timeout=10) as answer:
        body = b"".join(answer.iter_raw())
    if len(body) > BODY_MOST:
        raise UsageError(f"{url} answers with {len(body):,} bytes; {BODY_MOST:,} are the limit")
    return OwnAnswer(answer.headers.get("content-type", "").partition(";")[0].strip().lower(), body)
