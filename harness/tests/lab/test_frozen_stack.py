"""The frozen stack: which images are kept, when today's take their place, and that no build replaces one. Docker is a stand-in."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tandem.errors import TandemError
from tandem.history.night import FrozenStack, Program
from tandem.lab import images, laboratory
from tandem.lab.stack import BENCH_PROJECT, KEPT, Stack, image_variable

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
            image_name=lambda role: f"tandem/{role}",
            image=lambda role: self.images[f"tandem/{role}"],
        )

    def side_by_side(self, jobs: dict[str, Any], done: Any) -> dict[str, str]:
        for role in jobs:
            self.built.append(role)
            self.make(f"tandem/{role}")
        return {}


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
    there = {"db": True}
    built: list[str] = []

    def side_by_side(jobs: dict[str, Any], done: Any) -> dict[str, str]:
        built.extend(jobs)
        return {}

    image = SimpleNamespace(root_fs=SimpleNamespace(layers=[]), config=CONFIG)
    monkeypatch.setattr(laboratory, "build_side_by_side", side_by_side)
    monkeypatch.setattr(Stack, "image", lambda self, service: image)
    monkeypatch.setattr(Stack, "send", lambda self, service, to=None: False)
    monkeypatch.setattr(Stack, "has_image", lambda self, service: there[service])
    monkeypatch.setattr(Stack, "image_name", lambda self, service: f"tandem/{service}:0123")
    services = {role: (stack, role) for role in KEPT}
    laboratory.build([], lambda text: None, tmp_path / "results", services)
    assert built == [role for role in KEPT if role != "db"]
    assert "db" in (tmp_path / "results/programs.json").read_text(), "but which one it is, is kept"
    there["db"] = False
    with pytest.raises(TandemError, match=r"no longer has tandem/db:0123, .*`just nightly` freezes"):
        laboratory.build([], lambda text: None, tmp_path / "results", services)


def test_every_kept_service_has_its_variable(root: Path) -> None:
    text = (root / "compose/stack.yaml").read_text()
    assert all(f"${{{image_variable(role)}:-}}" in text for role in KEPT)
