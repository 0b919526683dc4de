"""What crosses to an agent and back: plain values, no objects, no code. What comes from a host is data, whoever sent it."""

import builtins
from array import array
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Final

from tandem.hosts.host import Captured, Clocks, HostCpu, KernelLimits, Oversleep, Usage

VALUES: Final = {kind.__name__: kind for kind in (Usage, HostCpu, Clocks, Oversleep, KernelLimits, Captured)}
KIND, COLUMN = "", "column"
UNSAYABLE: Final = (UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError)
"""They are made of more than a text."""


def packed(value: object) -> object:
    """A value of the interface as what execnet can send. Raises TypeError for anything else."""
    if is_dataclass(value) and type(value).__name__ in VALUES:
        return {
            KIND: type(value).__name__,
            **{one.name: packed(getattr(value, one.name)) for one in fields(value)},
        }
    if isinstance(value, array):
        return {KIND: COLUMN, "doubles": value.tobytes()}
    if isinstance(value, list | tuple):
        return [packed(one) for one in value]
    if isinstance(value, dict):
        return {key: packed(one) for key, one in value.items()}
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    raise TypeError(f"a {type(value).__name__} does not cross to another host")


def unpacked(value: object) -> object:
    """The inverse. Raises KeyError, TypeError or ValueError for what no agent sends."""
    if isinstance(value, list):
        return [unpacked(one) for one in value]
    if not isinstance(value, dict):
        return value
    if KIND not in value:
        return {key: unpacked(one) for key, one in value.items()}
    if value[KIND] == COLUMN:
        return array("d", value["doubles"])
    kind: Callable[..., object] = VALUES[value[KIND]]
    return kind(**{name: unpacked(one) for name, one in value.items() if name != KIND})


def error_of(kind: str, text: str) -> Exception:
    """What was raised there, where it is of the language's own errors; otherwise an OSError."""
    found = getattr(builtins, kind, None)
    if (
        isinstance(found, type)
        and issubclass(found, OSError | KeyError | ValueError)
        and found not in UNSAYABLE
    ):
        return found(text)
    return OSError(f"{kind}: {text}")
