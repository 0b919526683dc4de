"""A reader's own service: images that answer requests, and what runs beside them by their Compose file. The first one's answers are
the right ones: there is no contract."""

import difflib
import json
import re
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from python_on_whales import DockerClient, DockerException

from tandem.catalog.catalog import OWN_SERVICE, Catalog
from tandem.catalog.golden import differing, same, without
from tandem.catalog.service import OwnRequest, OwnService
from tandem.errors import TandemError, UsageError, unknown
from tandem.lab.images import BUILT, TAG_DIGITS, build_side_by_side, reference
from tandem.lab.readiness import NotReadyError, await_health, await_services
from tandem.lab.sites import APP, DATABASE, POOLER
from tandem.lab.stack import BENCH_PROJECT, GUNICORN, GUNICORN_PATIENCE, LABEL, Stack, tail, variables_of
from tandem.load.generator import HEADERS
from tandem.record.request import Request, Variant
from tandem.record.window import Finding

BODY_MOST = 1 << 18
"""Bytes of all answers, which each request of a record has."""
REPEATS = 3
"""Answers of the first image to each path, which have to be the same."""
DIFFERENCE_LINES = 12
LET_DROP = {"APP_CAP_DROP": "AUDIT_WRITE"}
"""Leaves it capabilities that no implementation needs: its servers may start as root and drop it."""
NETWORK, PREFIX = "own", "own-"
"""Network (compose/stack.yaml), and what their names begin with here: `db` is another one. They are asked by their own names."""
TAKEN = (
    "image",
    "command",
    "entrypoint",
    "environment",
    "user",
    "working_dir",
    "tmpfs",
    "shm_size",
    "ulimits",
)
"""Keys that are taken over of each service. Ports, health checks in a window, and ways out are not."""
NEVER = "24h"
DATA = "/own.sql"
"""Where compose/db/start finds the data of a reader's own."""


@dataclass(frozen=True)
class OwnAnswer:
    media_type: str
    body: bytes
    """Body as it travels."""

    def lines(self, ignored: Sequence[str] = ()) -> list[str]:
        """Lines as a person compares them: JSON a value per line."""
        try:
            document = without(json.loads(self.body), ignored)
            return [self.media_type, *json.dumps(document, indent=1).splitlines()]
        except ValueError:
            return [self.media_type, *self.body.decode(errors="replace").splitlines()]

    def like(self, right: "OwnAnswer", ignored: Sequence[str]) -> bool:
        return self.media_type == right.media_type and same(self.body, right.body, ignored)


def variants(root: Path, service: OwnService, note: Callable[[str], None]) -> list[Variant]:
    """A variant of each image, once all have given the first one's answers. Raises UsageError where an image is not there,
    TandemError where one never answers, or otherwise."""
    names = list(dict.fromkeys(service.images))
    contracts = [name for name in Catalog(root).settings if name != "PORT"]
    if service.database:
        contracts.remove("DATABASE_URL")
    overlay = overlay_of(Path(service.compose), service.service) if service.compose else {}
    if service.database:
        overlay = with_database(overlay, Path(service.database), root)
    tags = {name: _tagged(name, service.environment) for name in names}
    images = {name: DockerClient().image.inspect(reference(OWN_SERVICE, tag)) for name, tag in tags.items()}
    overlays = {
        name: with_environment(overlay, contracts, variables_of(image)) for name, image in images.items()
    }
    asked = ", ".join(f"{one.method} {one.path}" for one in service.request)
    note(f"own service: asking {', '.join(names)} for {asked}")
    answers = {
        name: _answers(name, _up(root, tags[name], service.port, overlays[name], note), service, times)
        for name, times in zip(names, [REPEATS, *[1] * (len(names) - 1)], strict=True)
    }
    right = answers[names[0]]
    for name in names[1:]:
        for (number, path), found in answers[name].items():
            request, known = service.request[number], right[number, path]
            if not found.like(known, request.ignore):
                told = difference(known, found, request.ignore)
                raise TandemError(
                    f"{name} answers {request.method} {path} otherwise than {names[0]}:\n{told}"
                )
    changes = service.scenario_changes(
        [
            as_answer(request, {key: right[number, path] for key, path in request.paths.items()})
            for number, request in enumerate(service.request)
        ]
    )
    return [
        Variant(
            label=name,
            implementation=OWN_SERVICE,
            tag=tags[name],
            scenario_changes=changes,
            variables={"APP_PORT": str(service.port), **LET_DROP},
            overlay=overlays[name],
        )
        for name in names
    ]


def as_answer(request: OwnRequest, right: Mapping[str, OwnAnswer]) -> dict[str, Any]:
    """The right answers as a scenario has them (tandem.catalog.scenario.Answer). Raises UsageError for several that are no text of
    one type."""
    types = {one.media_type for one in right.values()}
    try:
        texts = {key: one.body.decode() for key, one in right.items()}
    except UnicodeDecodeError:
        texts = {}
    if request.drawn and (len(types) > 1 or not texts):
        raise UsageError(f"the answers to {request.path} are no UTF-8 text of one type, which {{id}} needs")
    if request.drawn:
        return {"texts": texts, "media_type": types.pop()}
    own = {"text": texts[""]} if texts else {"base64": b64encode(right[""].body).decode()}
    return {**own, "media_type": types.pop()}


def findings(request: Request) -> list[Finding]:
    """What the answers of a request's own service are held to."""
    own = [variant for variant in request.variants if variant.implementation == OWN_SERVICE]
    if not own:
        return []
    held = f"answers are verified against those of {own[0].label}, not against a contract"
    return [Finding.of("baseline-answers", "warning", held)]


def difference(right: OwnAnswer, other: OwnAnswer, ignored: Sequence[str] = ()) -> str:
    """The first lines that differ, - of the right one and + of the other; of JSON with the same keys the paths."""
    lines = list(difflib.unified_diff(right.lines(ignored), other.lines(ignored), lineterm="", n=1))[2:]
    more = [f"… and {len(lines) - DIFFERENCE_LINES} more lines"] if len(lines) > DIFFERENCE_LINES else []
    try:
        paths = sorted(differing(*(without(json.loads(one.body), ignored) for one in (right, other))))
    except ValueError:
        paths = []
    if paths and "" not in paths:
        more += [f"a service file leaves them out with: ignore = {json.dumps(paths[:DIFFERENCE_LINES])}"]
    return "\n".join([line[:120] for line in lines[:DIFFERENCE_LINES]] + more)


def recipe(name: str, environment: Mapping[str, str]) -> str:
    """A Dockerfile that gives an image its environment and a label of ours. A value stands in quotes, in which `$`, `"` and the
    backslash are escaped. https://docs.docker.com/reference/dockerfile/#env"""
    quoted = {key: re.sub(r'([\\"$])', r"\\\1", value) for key, value in environment.items()}
    lines = [f"FROM {name}", *(f'ENV {key}="{value}"' for key, value in quoted.items())]
    return "\n".join([*lines, f"LABEL {BUILT}=service", ""])


def tag_with(variant: Variant, environment: Mapping[str, str]) -> str:
    """The tag of a variant's image with further variables."""
    assert variant.tag is not None
    return _tagged(reference(OWN_SERVICE, variant.tag), environment)


def _tagged(name: str, environment: Mapping[str, str]) -> str:
    """Gives an image a name and a label of ours, and its environment; returns the tag."""
    docker = DockerClient()
    try:
        image = docker.image.inspect(name)
    except DockerException:
        raise UsageError(f"this engine has no image '{name}': build it, or docker pull {name}") from None
    made = recipe(name, environment)
    tag = sha256(f"{image.id}\n{made}".encode()).hexdigest()[:TAG_DIGITS]
    own = reference(OWN_SERVICE, tag)
    if not docker.image.exists(own):
        command = ["docker", "buildx", "build", "--quiet", "--load", "--tag", own, "-"]
        done = subprocess.run(command, input=made, capture_output=True, text=True, check=False)
        if done.returncode:
            raise TandemError(f"the image of {name} cannot be given a name of ours:\n{tail(done.stderr)}")
    return tag


@contextmanager
def _up(
    root: Path, tag: str, port: int, overlay: Mapping[str, Any], note: Callable[[str], None]
) -> Iterator[Stack]:
    """A fresh container of an image, with what runs beside it, on networks that have no way out. Raises TandemError where it
    does not start."""
    # The other two are read by Compose, and nothing here listens on them.
    ports = {"APP_PORT": str(port), "HTTP_PORT": "0", "STATS_PORT": "0"}
    variables = {"IMPL": OWN_SERVICE, "VARIANT": f":{tag}", **ports, **LET_DROP}
    with TemporaryDirectory() as folder:
        stack = Stack(root, BENCH_PROJECT, variables, Path(folder) / "compose.env", overlay=overlay)
        try:
            data = (DATABASE, POOLER) if stack.own_database else ()
            build_side_by_side({one: (stack, one) for one in data}, note)
            first = [*stack.beside, *data]
            stack.start(first)
            await_services(stack, first, note)
            stack.start([APP])
            yield stack
        finally:
            stack.down()


def _answers(
    name: str, up: AbstractContextManager[Stack], service: OwnService, times: int
) -> dict[tuple[int, str], OwnAnswer]:
    """What a fresh container of an image answers: number of the request and path -> its answer, each time the same."""
    with up as stack:
        try:
            address = f"{stack.service(APP).address}:{service.port}"
            await_health(address, lambda: stack.service(APP), service.ready_path, None)
        except NotReadyError as error:
            told = f"{name}: {error} Other hosts, and the Internet, cannot be reached from here."
            raise TandemError(f"{told}\n{stack.log(APP)}") from None
        except TandemError as error:
            raise TandemError(f"{name}: {error}") from None
        found = {
            (number, path): [asked(address, path, request) for _ in range(times)]
            for number, request in enumerate(service.request)
            for path in request.paths.values()
        }
    for (number, path), (first, *again) in found.items():
        request = service.request[number]
        for one in again:
            if not one.like(first, request.ignore):
                raise UsageError(
                    f"{name} answers {request.method} {path} otherwise each time, so no answer can be held to another:\n"
                    f"{difference(first, one, request.ignore)}"
                )
    if (size := sum(len(first.body) for first, *_ in found.values())) > BODY_MOST:
        raise UsageError(f"{name} answers with {size:,} bytes in all; {BODY_MOST:,} are the limit")
    return {key: first for key, (first, *_) in found.items()}


def asked(address: str, path: str, request: OwnRequest) -> OwnAnswer:
    """The answer of host:port. Raises TandemError where there is none, or of another status."""
    json_type = {} if request.body is None else {"content-type": "application/json"}
    headers = {**HEADERS, **json_type, **{name.lower(): value for name, value in request.headers.items()}}
    how: dict[str, Any] = {"headers": headers, "content": request.body, "timeout": 10}
    try:
        with httpx.stream(request.method, f"http://{address}{path}", **how) as answer:
            body = b"".join(answer.iter_raw())
    except httpx.HTTPError as error:
        raise TandemError(f"{request.method} {path} is not answered: {error!r}") from None
    if answer.status_code != request.status:
        raise TandemError(
            f"{request.method} {path} has status {answer.status_code}: {body[:80].decode(errors='replace')}"
        )
    return OwnAnswer(answer.headers.get("content-type", "").partition(";")[0].strip().lower(), body)


# ---- services beside it ----


def overlay_of(file: Path, service: str) -> dict[str, Any]:
    """Compose's overlay to compose.yaml: the application with the environment that this service of a file has, and the others of the
    file. Raises UsageError."""
    command = ["docker", "compose", "-f", str(file), "config", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UsageError(f"{file}: Compose cannot read it: {tail(done.stderr, 3)}")
    services: dict[str, dict[str, Any]] = json.loads(done.stdout).get("services", {})
    if service not in services:
        raise unknown(f"service of {file.name}", service, services)
    environment = services[service].get("environment") or {}
    app: dict[str, Any] = {"environment": environment, "networks": {NETWORK: {}}}
    others = {PREFIX + name: _beside(file, name, one) for name, one in services.items() if name != service}
    return {"services": {APP: app, **others}}


def with_environment(
    overlay: Mapping[str, Any], names: Iterable[str], of_image: Mapping[str, str]
) -> dict[str, Any]:
    """The overlay by which the application has the variables of its image, and of the contract's only those that were chosen: Compose
    takes what is null from the variables of the stack, and leaves out what is not there either. names: of the contract's. of_image:
    its variables. https://docs.docker.com/reference/compose-file/services/#environment"""
    services = {**overlay.get("services", {})}
    app = services.get(APP, {})
    own = of_image.get(GUNICORN, "").replace("$", "$$")
    patient = {GUNICORN: f"{own} {GUNICORN_PATIENCE}"} if own else {}
    services[APP] = {**app, "environment": {**dict.fromkeys(names), **patient, **app.get("environment", {})}}
    return {"services": services}


def with_database(overlay: Mapping[str, Any], file: Path, root: Path) -> dict[str, Any]:
    """The overlay by which the laboratory's database has the data of an SQL file; of one below root the record names the place in
    the checkout, so that it is replayed elsewhere. Raises UsageError."""
    if not file.is_file():
        raise UsageError(f"{file}: there is no such file, which `database` names")
    source = f"./{file.relative_to(root)}" if file.is_relative_to(root) else str(file)
    data = {"volumes": [{"type": "bind", "source": source, "target": DATA, "read_only": True}]}
    return {"services": {**overlay.get("services", {}), DATABASE: data}}


def _beside(file: Path, name: str, described: Mapping[str, Any]) -> dict[str, Any]:
    if not described.get("image"):
        raise UsageError(f"{file}: {name} has no `image`: build it, and name what was built")
    found = {key: described[key] for key in TAKEN if described.get(key)}
    test = (described.get("healthcheck") or {}).get("test")
    return {
        **found,
        **({"healthcheck": {"test": test, "interval": NEVER}} if test else {}),
        "volumes": [_volume(one) for one in described.get("volumes") or []],
        "networks": {NETWORK: {"aliases": [name]}},
        "cpuset": "${DB_CPUSET:-}",
        "restart": "no",
        "labels": {LABEL: "stack"},
    }


def _volume(one: Mapping[str, Any]) -> dict[str, Any]:
    """Files of the reader's are read alone, and data begin empty."""
    if one["type"] == "bind":
        return {"type": "bind", "source": one["source"], "target": one["target"], "read_only": True}
    return {"type": "volume", "target": one["target"]}
