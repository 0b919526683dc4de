"""tandem.lab.images: taken from a registry, kept for nights, told apart."""

import os
import re
import subprocess
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import yaml

from checks import changed
from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError, UsageError
from tandem.history.night import FrozenStack, Program
from tandem.lab import images, laboratory
from tandem.lab.stack import BENCH_PROJECT, KEPT, Stack, image_variable

DOCKERFILE = "one/Dockerfile"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    ignored = "*\n!one\n!shared/sql\n**/.*\n**/__pycache__\none/built\none/Dockerfile*\n"
    for name, text in (
        (DOCKERFILE, "FROM scratch\n"),
        (f"{DOCKERFILE}.dockerignore", ignored),
        ("one/src/main.py", "1"),
        ("one/src/__pycache__/main.pyc", "x"),
        ("one/.venv/lib", "x"),
        ("one/built/out", "x"),
        ("shared/sql/a.sql", "2"),
        ("shared/other", "x"),
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def of(root: Path, target: str = "", **arguments: str | None) -> str:
    return images.content(root, DOCKERFILE, target, arguments)


COUNTS = ["one/src/main.py", "shared/sql/a.sql", DOCKERFILE]


@pytest.mark.parametrize(
    "name", [*COUNTS, "shared/other", "one/built/out", "one/src/__pycache__/main.pyc", "one/.venv/lib"]
)
def test_what_the_ignore_file_lets_in_is_the_content(sources: Path, name: str) -> None:
    assert images.context(sources, DOCKERFILE) == sorted(COUNTS)
    before = of(sources)
    (sources / name).write_text("changed")
    assert (of(sources) != before) is (name in COUNTS)


def test_names_modes_targets_and_arguments_count(sources: Path) -> None:
    found = [of(sources), of(sources, "test"), of(sources, PROFILE="debug"), of(sources, PROFILE="release")]
    assert of(sources, PROFILE=None) == of(sources, PROFILE="") == found[0]
    (sources / "one/src/main.py").chmod(0o755)
    found.append(of(sources))
    (sources / "one/src/main.py").rename(sources / "one/src/other.py")
    found.append(of(sources))
    assert len({*found}) == len(found)


# ---- where from ----


@pytest.mark.parametrize(
    ("named", "said", "expected"),
    [
        ("", None, None),
        ("", "", None),
        ("", "build", None),
        ("", "127.0.0.1:5000/tandem", "127.0.0.1:5000/tandem"),
        ("ghcr.io/a/b", None, "ghcr.io/a/b"),
        ("ghcr.io/a/b", "build", None),
        *(
            ("", said, UsageError)
            for said in ("pull", "ghcr.io", "ghcr.io/A/b", "ghcr.io/a b", "https://ghcr.io/a")
        ),
    ],
)
def test_where_images_are_taken_from(tmp_path: Path, named: str, said: str | None, expected: Any) -> None:
    (tmp_path / "compose").mkdir()
    (tmp_path / images.REGISTRY_FILE).write_text(f'registry = "{named}"\n')
    given = {} if said is None else {images.SWITCH: said}
    refused = pytest.raises(UsageError, match="the folder of a registry")
    with refused if expected is UsageError else nullcontext():
        assert images.registry(tmp_path, given) == expected


def test_no_registry_is_named_yet(root: Path) -> None:
    """Whoever names one says so in docs/reference/images.md and in the changelog, and changes this test."""
    assert images.registry(root, {}) is None


# ---- the launcher ----

CLIENT = """#!/bin/sh
echo "$@" >>"{log}"
case "$*" in
info) printf '%s\n' "{engine}"; exit {status} ;;
"context inspect"*) echo "{context}" ;;
*imagetools*) printf 'Name: x\nMediaType: y\nDigest:    sha256:{digest}\n' ;;
"image inspect --format"*@sha256:*) echo {content} ;;
"image inspect"*) echo "Error: No such image" >&2; exit 1 ;;
{fails}
esac
"""


def launched(
    root: Path, folder: Path, switch: str, content: str, **engine: str
) -> tuple[int, str, list[str]]:
    """Status, what it said, and what it asked of a client of Docker that has no image. engine: what is special about it."""
    log, client = folder / "log", folder / "docker"
    usual = {"engine": "", "status": "0", "context": "unix:///var/run/docker.sock", "fails": ""}
    client.write_text(CLIENT.format(log=log, digest="a" * 64, content=content, **usual | engine))
    client.chmod(0o755)
    path = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", images.SWITCH: switch}
    done = subprocess.run(
        [root / "harness/run", "list"], capture_output=True, text=True, check=False, env=path
    )
    return done.returncode, done.stderr, log.read_text().splitlines()


@pytest.mark.parametrize(
    ("engine", "mounted"),
    [
        ({}, "/var/run/docker.sock"),
        ({"context": "unix:///run/user/1000/docker.sock"}, "/run/user/1000/docker.sock"),
        ({"context": "unix:///home/me/.docker/desktop/docker.sock", "engine": " Operating System: Docker Desktop"}, "/var/run/docker.sock"),
        ({"context": "tcp://10.0.0.2:2376"}, "tcp://10.0.0.2:2376 is no engine of this machine"),
        ({"status": "1", "engine": "permission denied while trying to connect to the Docker daemon socket"}, "usermod -aG docker"),
        ({"status": "1", "engine": "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?"}, "Docker does not answer"),
        ({"fails": "buildx*) exit 1 ;;"}, "Docker has no buildx"),
        ({"fails": "'buildx build'*) echo 'no such file' >&2; exit 1 ;;"}, "no such file"),
    ],
)  # fmt: skip
def test_the_launcher_finds_the_engine_or_says_what_is_missing(
    root: Path, tmp_path: Path, engine: dict[str, str], mounted: str
) -> None:
    status, said, asked = launched(root, tmp_path, "build", "", **engine)
    runs = [line for line in asked if line.startswith("run ")]
    if mounted.endswith("docker.sock"):
        assert status == 0
        assert f"--volume {mounted}:/var/run/docker.sock " in runs[0]
    else:
        assert (status, runs) == (1, [])
        assert mounted in said
        assert ("no buildx" in said) is ("no buildx" in mounted)


@pytest.mark.parametrize(
    ("said", "full"), [("x: no space left on device", True), ("no matching manifest", False)]
)
def test_a_disk_that_is_full_while_an_image_is_taken_is_an_error(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, full: bool
) -> None:
    """Whatever else goes wrong, the image is built."""
    fails = f"pull*|'image pull'*) echo '{said}' >&2; exit 1 ;;"
    status, told, asked = launched(root, tmp_path, "r.io/t", "x", fails=fails)
    assert (status, "docker system df" in told) == (int(full), full)
    assert any(line.startswith("buildx build") for line in asked) is not full
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(images, "_digest", lambda name: "sha256:1")
    with (
        pytest.raises(TandemError, match="tandem/db cannot be taken: x: no space left")
        if full
        else nullcontext()
    ):
        assert images.take("tandem/db", "x", "r.io/tandem") is None


PLACE = f"r.io/t/harness@sha256:{'a' * 64}"


@pytest.mark.parametrize("other", [False, True])
def test_the_launcher_takes_the_image_of_the_harness_and_no_other(
    root: Path, tmp_path: Path, other: bool
) -> None:
    """It computes the content itself: the program that computes the others' runs in that image."""
    content = images.content(root, "harness/Dockerfile")
    status, said, asked = launched(root, tmp_path, "r.io/t", "0" * 20 if other else content)
    [tag] = [line.split()[-1] for line in asked if "imagetools" in line]
    assert (status, tag) == (int(other), f"r.io/t/harness:{content}")
    assert ("made of something else" if other else f"taken from {PLACE}") in said
    taken = [line for line in asked if line.startswith("tag")]
    assert taken == ([] if other else [f"tag {PLACE} tandem/harness"])
    assert f"pull -q {PLACE}" in asked
    assert any(line.startswith("run") for line in asked) is not other
    assert not [line for line in asked if "buildx build" in line]


@pytest.mark.parametrize("switch", ["", "build"])
def test_the_launcher_builds_where_no_registry_is_named(root: Path, tmp_path: Path, switch: str) -> None:
    status, _, asked = launched(root, tmp_path, switch, "")
    assert status == 0
    assert [line for line in asked if line.startswith("buildx build")]
    assert not [line for line in asked if "imagetools" in line]


# ---- what is told ----


@pytest.mark.parametrize("place", [None, "r.io/t"])
def test_it_is_told_what_is_done(monkeypatch: pytest.MonkeyPatch, place: str | None) -> None:
    def build(stack: Any, service: str) -> str | None:
        time.sleep(0.3 if service == "app" else 0)
        return f"{place}/{service}@sha256:1" if place and service == "db" else None

    monkeypatch.setattr(images, "registry", lambda root: place)
    monkeypatch.setattr(images, "build", build)
    monkeypatch.setattr(images, "STILL_S", 0.1)
    monkeypatch.setattr(images, "TOLD_FROM_S", 0.2)
    notes: list[str] = []
    stack: Any = SimpleNamespace(root=Path("/"))
    images.build_side_by_side({"db": (stack, "db"), "node": (stack, "app")}, notes.append)
    first, *others = notes
    doing = "taking from r.io/t, or building what it lacks: db" if place else "building db"
    assert first == f"images: {doing}, node (the first time this takes minutes)"
    assert ("  db: taken from r.io/t/db@sha256:1 in 0 s" in others) is bool(place)
    assert "  after 0 s still: node" in others
    assert others[-1] == "  node: 0 s"


# ---- what is published ----


def test_images_are_published_under_the_names_that_they_have_here(real: Catalog) -> None:
    """And by the content that a build here looks for: the stack's variables change neither."""
    services = yaml.safe_load((real.root / "compose/stack.yaml").read_text())["services"]
    listed = {image.name for image in changed.images(real)}
    for name, service in services.items():
        default = re.sub(r"\$\{\w+:(-([\w-]*)|\+-)\}", r"\2", service["image"])
        assert default.removeprefix(images.OWN) in listed, name


CONFIG = SimpleNamespace(entrypoint=None, cmd=None, env=None, working_dir="", user="")


class Engine:
    """Images by name; what is built runs something new each time, on `base`."""

    def __init__(self) -> None:
        self.images: dict[str, Any] = {}
        self.built: list[str] = []
        self.base = "sha256:base"
        self.contents = {role: f"content of {role}" for role in KEPT}

    def make(self, name: str) -> Any:
        layers = [self.base, f"layer {len(self.built)}"]
        image = SimpleNamespace(root_fs=SimpleNamespace(layers=layers), config=CONFIG)
        image.tag = lambda other: self.images.update({other: image})
        self.images[name] = image
        return image

    @property
    def image(self) -> Any:
        return SimpleNamespace(
            exists=lambda name: name in self.images, inspect=lambda name: self.images[name]
        )

    def stack(self, *_: Any) -> Any:
        return SimpleNamespace(
            image_name=lambda role: f"tandem/{role}", image=lambda role: self.images[f"tandem/{role}"]
        )

    def side_by_side(self, jobs: dict[str, Any], note: Any) -> None:
        for role in jobs:
            self.built.append(role)
            self.make(f"tandem/{role}")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    found = Engine()
    monkeypatch.setattr(images, "DockerClient", lambda: found)
    monkeypatch.setattr(images, "Stack", found.stack)
    monkeypatch.setattr(images, "content_of", lambda stack, role: found.contents[role])
    monkeypatch.setattr(images, "build_side_by_side", found.side_by_side)
    return found


def frozen(known: FrozenStack | None, anew: bool = False) -> FrozenStack:
    return images.frozen_stack(Path("/"), known, anew, lambda text: None)


def test_the_first_night_freezes_all_and_the_next_builds_none(engine: Engine) -> None:
    first = frozen(None)
    assert [*first.images] == [*KEPT] == engine.built
    assert {one.base for one in first.images.values()} == {"sha256:base"}
    assert all(f"tandem/{role}:{one.tag}" in engine.images for role, one in first.images.items())
    engine.base = "sha256:a newer one"
    for role in KEPT:  # somebody builds today's meanwhile
        engine.make(f"tandem/{role}")
    assert frozen(first) is first, "packages and bases of today are no reason"
    assert len(engine.built) == len(KEPT)


@pytest.mark.parametrize("why", ["sources", "missing"])
def test_an_image_that_does_not_fit_or_is_missing_is_replaced_alone(engine: Engine, why: str) -> None:
    first = frozen(None)
    if why == "sources":
        engine.contents["db"] = "other rows"
    else:
        del engine.images[f"tandem/db:{first.images['db'].tag}"]
    second = frozen(first)
    assert engine.built[len(KEPT) :] == ["db"]
    others = {role for role, one in second.images.items() if one.tag != first.images[role].tag}
    assert others == {"db"}, "a night tells by the tag that it is another"
    anew = frozen(first, anew=True)
    assert all(one.tag != first.images[role].tag for role, one in anew.images.items()), "where that is asked"


def test_what_was_built_again_is_told_by_what_it_runs(engine: Engine) -> None:
    """The tag stays; what the night notes does not."""
    kept = Program(tag="0123456789ab", commit="c" * 40)
    engine.make("tandem/node:0123456789ab")
    before = images.as_here("node", kept)
    engine.built.append("another one")
    engine.base = "sha256:a newer one"
    engine.make("tandem/node:0123456789ab")
    after = images.as_here("node", kept)
    assert (before.name, before.base) == (after.name, "sha256:base")
    assert before.tag != after.tag
    assert after.base == "sha256:a newer one"


def test_a_build_leaves_what_is_kept_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = Stack(
        tmp_path, BENCH_PROJECT, {"IMPL": "node", "DB_IMAGE": ":0123", "APP_IMAGE": ":x"}, tmp_path / "env"
    )
    assert [role for role in (*KEPT, "app", "faults") if stack.is_kept(role)] == ["db"]
    there, built = {"db": True}, Mock()
    image = SimpleNamespace(root_fs=SimpleNamespace(layers=[]), config=CONFIG)
    monkeypatch.setattr(laboratory, "build_side_by_side", built)
    monkeypatch.setattr(Stack, "image", lambda self, service: image)
    monkeypatch.setattr(Stack, "send", lambda self, service, to=None: False)
    monkeypatch.setattr(Stack, "has_image", lambda self, service: there[service])
    monkeypatch.setattr(Stack, "image_name", lambda self, service: f"tandem/{service}:0123")
    services = {role: (stack, role) for role in KEPT}
    laboratory.build([], services, lambda text: None, tmp_path / "results")
    assert [*built.call_args.args[0]] == [role for role in KEPT if role != "db"]
    assert "db" in (tmp_path / "results/programs.json").read_text(), "but which one it is, is kept"
    there["db"] = False
    with pytest.raises(TandemError, match=r"no longer has tandem/db:0123, .*`just nightly` freezes"):
        laboratory.build([], services, lambda text: None, tmp_path / "results")


def test_every_kept_service_has_its_variable(root: Path) -> None:
    text = (root / "compose/stack.yaml").read_text()
    assert all(f"${{{image_variable(role)}:-}}" in text for role in KEPT)
