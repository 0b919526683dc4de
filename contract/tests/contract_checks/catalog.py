"""Which implementations there are, and what each says it cannot do."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
CONTRACT = ROOT / "contract"
TIERS = ("core", "hardened")


@dataclass(frozen=True)
class Implementation:
    """A folder that compose builds as `tandem/<name>`."""

    name: str
    model: str = "sync"
    # How much of the contract it promises: core or hardened.
    tier: str = "core"
    # Whether GET /pool says how long connections were waited for.
    pool_tells: bool = False
    # What bench.toml names under [unsupported], each with its reason.
    settings: Mapping[str, str] = field(default_factory=dict)
    scenarios: Mapping[str, str] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    # The files of checks in which a bridge differs from what it is a bridge of; empty for what is none.
    bridge: tuple[str, ...] = ()
    # Scenario -> its statements, of one that has its own: their texts are in its folder's sql/.
    statements: Mapping[str, list[str]] = field(default_factory=dict)
    # Another build of its folder than the release build: what its Dockerfile makes of this PROFILE.
    build: str = ""

    def serves(self, scenario: str) -> bool:
        """Whether the implementation has the scenario."""
        return scenario not in self.scenarios

    def honours(self, **settings: str) -> dict[str, str]:
        """Those of the settings that the implementation has."""
        return {name: value for name, value in settings.items() if name not in self.settings}

    @property
    def variant(self) -> str:
        """What its build adds to the name of the image."""
        return f"-{self.build}" if self.build else ""

    @property
    def image(self) -> str:
        return f"tandem/{self.name}{self.variant}"


def names() -> list[str]:
    """The folders of the repository's root that have a bench.toml, sorted."""
    return sorted(path.parent.name for path in ROOT.glob("*/bench.toml"))


def load(name: str) -> Implementation:
    """The implementation in that folder; raises ValueError when the folder is none."""
    path = ROOT / name / "bench.toml"
    if not path.is_file():
        raise ValueError(
            f"{name} is no implementation, it has no bench.toml; these are: {', '.join(names())}"
        )
    text = _read(path)
    if text.get("tier", "core") not in TIERS:
        raise ValueError(f"{path}: tier is {text['tier']!r}, and not one of {', '.join(TIERS)}")
    said = {key: text[key] for key in ("model", "tier", "pool_tells", "statements") if key in text}
    bridge = tuple(text.get("bridge", {}).get("checks", ()))
    return Implementation(name, bridge=bridge, **said, **text.get("unsupported", {}))


def settings() -> dict[str, list[str]]:
    """Every setting of the contract with the values it may have; an empty list where that is open."""
    text = _read(CONTRACT / "settings.toml")
    return {name: setting.get("values", []) for name, setting in text.items()}


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from error
