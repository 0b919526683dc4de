"""tandem.lab.images without an engine: what the content of an image is, and where images come from."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from checks import changed
from tandem.catalog.catalog import Catalog
from tandem.errors import UsageError
from tandem.lab import images

DOCKERFILE = "one/Dockerfile"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name, text in (
        (DOCKERFILE, "FROM scratch\n"),
        (
            f"{DOCKERFILE}.dockerignore",
            "*\n!one\n!shared/sql\n**/.*\n**/__pycache__\none/built\none/Dockerfile*\n",
        ),
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
    if expected is UsageError:
        with pytest.raises(UsageError, match="the folder of a registry"):
            images.registry(tmp_path, given)
    else:
        assert images.registry(tmp_path, given) == expected


def test_no_registry_is_named_yet(root: Path) -> None:
    """Whoever names one says so in docs/reference/images.md and in the changelog, and changes this test."""
    assert images.registry(root, {}) is None


# ---- the launcher ----

CLIENT = """#!/bin/sh
echo "$@" >>"{log}"
case "$*" in
*imagetools*) printf 'Name: x\nMediaType: y\nDigest:    sha256:{digest}\n' ;;
"image inspect --format"*@sha256:*) echo {content} ;;
"image inspect"*) exit 1 ;;
esac
"""


def launched(root: Path, folder: Path, switch: str, content: str) -> tuple[int, str, list[str]]:
    """Status, what it said, and what it asked of a client of Docker that has no image."""
    log, client = folder / "log", folder / "docker"
    client.write_text(CLIENT.format(log=log, digest="a" * 64, content=content))
    client.chmod(0o755)
    path = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", images.SWITCH: switch}
    done = subprocess.run(
        [root / "harness/run", "list"], capture_output=True, text=True, check=False, env=path
    )
    return done.returncode, done.stderr, log.read_text().splitlines()


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


# ---- what is published ----


def test_images_are_published_under_the_names_that_they_have_here(real: Catalog) -> None:
    """And by the content that a build here looks for: the stack's variables change neither."""
    services = yaml.safe_load((real.root / "compose/stack.yaml").read_text())["services"]
    listed = {image.name for image in changed.images(real)}
    for name, service in services.items():
        default = service["image"].replace("${LOADGEN:-oha}", "oha")
        default = default.replace("${IMPL:-rust-async}${VARIANT:-}", "rust-async")
        default = default.replace(f"${{{name.upper()}_IMAGE:-}}", "")
        assert default.removeprefix(images.OWN) in listed, name
