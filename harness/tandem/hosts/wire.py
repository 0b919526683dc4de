"""What crosses to an agent and back: plain values, no code. What comes from a host is data, whoever sent it.

execnet sends lists, dictionaries, numbers, texts and bytes. Everything else becomes a dictionary that names its kind.
"""

import builtins
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

from tandem.hosts.host import Captured, Clocks, Core, HostCpu, KernelLimits, Oversleep, Topology, Usage

HOST: Final = 0
"""The number of the agent's host among its objects."""
VALUE, ERROR = "value", "error"
"""The first word of an answer."""
KIND: Final = ""
"""The key of a dictionary that stands for a value of another kind."""
COLUMN, FILE, REFERENCE = "column", "file", "reference"
UNSAYABLE: Final = (UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError)
"""Errors that are made of more than a text."""


@dataclass(eq=False)
class Reference:
    """An object that stays on the agent's host, by its number there."""

    number: int


VALUES: Final = {
    kind.__name__: kind
    for kind in (Usage, HostCpu, Clocks, Oversleep, KernelLimits, Captured, Core, Topology)
}
KINDS: Final[Mapping[str, Callable[..., object]]] = {
    **VALUES,
    COLUMN: lambda doubles: array("d", doubles),
    FILE: lambda path: Path(path),
    REFERENCE: Reference,
}


def packed(value: object) -> object:
    """A value of the interface as execnet can send it. Raises TypeError for anything else."""
    if value is None or type(value) in (bool, int, float, str, bytes):
        return value
    if isinstance(value, IntEnum):
        return int(value)
    if isinstance(value, list | tuple):
        return type(value)(packed(one) for one in value)
    if isinstance(value, dict):
        return {key: packed(one) for key, one in value.items()}
    if isinstance(value, Reference):
        return {KIND: REFERENCE, "number": value.number}
    if isinstance(value, Path):
        return {KIND: FILE, "path": str(value)}
    if isinstance(value, array):
        return {KIND: COLUMN, "doubles": value.tobytes()}
    if type(value) in VALUES.values():
        return {KIND: type(value).__name__} | {name: packed(one) for name, one in vars(value).items()}
    raise TypeError(f"a {type(value).__name__} does not cross to another host")


def unpacked(value: object, kinds: Mapping[str, Callable[..., object]] = KINDS) -> Any:
    """The inverse. kinds: what makes a value of each kind. Raises KeyError, TypeError or ValueError for what nobody packed."""
    if isinstance(value, list | tuple):
        return type(value)(unpacked(one, kinds) for one in value)
    if not isinstance(value, dict):
        return value
    fields = {name: unpacked(one, kinds) for name, one in value.items() if name != KIND}
    return kinds[value[KIND]](**fields) if KIND in value else fields


def error_of(kind: str, text: str) -> Exception:
    """An error that was raised there: of its own kind where the language has it, otherwise an OSError."""
    found = getattr(builtins, kind, None)
    if (
        isinstance(found, type)
        and issubclass(found, OSError | KeyError | ValueError)
        and found not in UNSAYABLE
    ):
        return found(text)
    return OSError(f"{kind}: {text}")
