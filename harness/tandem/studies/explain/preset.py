"""Reads loadgen/explanations/*.toml: how the programs of published comparisons were set up. Pure but for reading."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from tandem.catalog.toml import parsed, read_toml
from tandem.errors import UsageError, unknown


class Preset(BaseModel):
    """One scenario of a file: settings of implementations, and what is equal in the middle of the bridge."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    source: str
    """Address of the programs."""
    experiment: str
    """The one of loadgen/experiments whose published rows have these settings."""
    topology: str
    settings: dict[str, dict[str, str]]
    """Implementation -> as it was published."""
    equal: dict[str, str] = {}
    variables: dict[str, str] = {}
    """Of compose/stack.yaml."""
    changes: dict[str, Any] = {}
    """Fields of the scenario that are laid over it."""
    factors: dict[str, list[str]] = {}
    own_factors: dict[str, dict[str, list[str]]] = {}
    """Implementation -> factors that its settings make, in the place of those."""
    groups: dict[str, list[str]] = {}
    words: dict[str, dict[str, str]] = {}

    def of(self, implementation: str, name: str) -> dict[str, str]:
        """Its settings as published. name: of the preset. Raises UsageError where nothing was published."""
        if implementation not in self.settings:
            raise UsageError(
                f"nothing was published about {implementation} here; --from {name} has {', '.join(self.settings)}"
            )
        return self.settings[implementation]


def read_preset(root: Path, name: str, scenario: str) -> Preset:
    """The part of loadgen/explanations/NAME.toml, or of a TOML file of that path, that is about a scenario.

    Raises UsageError for a file, a scenario or a key that does not exist.
    """
    known = {file.stem: file for file in sorted((root / "loadgen/explanations").glob("*.toml"))}
    if not name.endswith(".toml") and name not in known:
        raise unknown("preset", name, known)
    file = Path(name) if name.endswith(".toml") else known[name]
    data = read_toml(file)
    if scenario not in data:
        raise UsageError(f"{file}: it says nothing about the scenario {scenario}; it has {', '.join(data)}")
    return parsed(Preset, data[scenario], file, scenario)
