"""tandem.lab.drive: what the generator's container is given."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from tandem.catalog.bodies import SentBodies
from tandem.lab.drive import send
from tandem.lab.stack import Stack
from tandem.load.generator import OHA, Load


@dataclass
class Container:
    """Notes what is copied into it."""

    has: dict[str, bytes] = field(default_factory=dict)
    copied: int = 0

    def copy_in(self, service: str, file: Path, path: str) -> None:
        assert service == "loadgen"
        self.has[path] = file.read_bytes()
        self.copied += 1


def test_bodies_are_given_once_to_each_container(tmp_path: Path) -> None:
    bodies, others = SentBodies.of(b"[1]", b"[2]"), SentBodies.of(b"[3]")
    asked: dict[str, Any] = {
        "url": "http://a/",
        "duration_s": 1,
        "connections": 1,
        "threads": 1,
        "headers": {},
    }
    first, second = Container(), Container()
    for container, name, sent in (
        (first, "lab-drive-1", bodies),
        (first, "lab-drive-1", bodies),
        (first, "lab-drive-1", others),
        (second, "lab-drive-2", bodies),
    ):
        send(cast(Stack, container), name, tmp_path, "w", Load(**asked, method="POST", bodies=sent), OHA)
    assert first.has == {f"/tmp/body-{bodies.name}": b"[1]\n[2]", f"/tmp/body-{others.name}": b"[3]"}
    assert (first.copied, second.copied) == (2, 1)
    assert list(tmp_path.iterdir()) == [], "the bodies are not kept with the raw files"
