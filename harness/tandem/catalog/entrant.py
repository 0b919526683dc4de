"""What is compared: an implementation with settings of its own. Pure."""

from dataclasses import dataclass, field

from tandem.catalog.catalog import Catalog, Implementation
from tandem.errors import UsageError


@dataclass(frozen=True)
class Entrant:
    """An implementation as the user named it."""

    label: str
    implementation: Implementation
    knobs: dict[str, str] = field(default_factory=dict)
    """Besides those that all entrants share."""


def read_entrant(catalog: Catalog, text: str) -> Entrant:
    """NAME or NAME:KNOB=VALUE,KNOB=VALUE. Raises UsageError for anything else."""
    name, colon, settings = text.partition(":")
    implementation = catalog.implementation(name)
    knobs: dict[str, str] = {}
    for pair in settings.split(",") if colon else []:
        knob, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(
                f"'{text}': after the colon come KNOB=VALUE pairs, such as {name}:DB_POOL_MAX=4,DB_PREPARE=0"
            )
        if knob in knobs:
            raise UsageError(f"'{text}': {knob} is given twice")
        knobs[knob] = value
    return Entrant(text, implementation, knobs)


def read_entrants(catalog: Catalog, texts: list[str]) -> list[Entrant]:
    """The entrants in their order; the first is the reference. One named twice is one: the reference always runs twice.

    Raises UsageError for names, knobs or forms that do not exist.
    """
    return [read_entrant(catalog, text) for text in dict.fromkeys(texts)]
