"""Which implementations there are, and which knobs each says it cannot honour."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
CONTRACT = ROOT / "contract"


@dataclass(frozen=True)
class Implementation:
    """A folder that compose builds as `tandem/<name>`."""

    name: str
    unsupported: Mapping[str, str] = field(default_factory=dict)  # knob -> reason

    @property
    def image(self) -> str:
        return f"tandem/{self.name}"


def names() -> list[str]:
    """The folders of the repository's root that have a bench.toml, sorted; hidden ones left out."""
    return sorted(path.parent.name for path in ROOT.glob("*/bench.toml") if not _read(path).get("hidden"))


def load(name: str) -> Implementation:
    """The implementation in that folder; raises ValueError when the folder is none."""
    path = ROOT / name / "bench.toml"
    if not path.is_file():
        raise ValueError(
            f"{name} is no implementation, it has no bench.toml; these are: {', '.join(names())}"
        )
    text = _read(path)
    return Implementation(name, text.get("unsupported", {}).get("knobs", {}))


def knobs() -> dict[str, list[str]]:
    """Every knob of the contract with the values it may have; an empty list where that is open."""
    text = _read(CONTRACT / "knobs.toml")
    return {name: list(knob.get("values", [])) for name, knob in text.items()}


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from error
