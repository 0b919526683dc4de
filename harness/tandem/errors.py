"""What goes wrong in a way that the user can do something about."""

from collections.abc import Iterable
from difflib import get_close_matches


class TandemError(Exception):
    """A failure with one clear message; ends the program with status 1."""

    exit_code = 1


class UsageError(TandemError):
    """The command line or a configuration file is wrong; ends the program with status 2."""

    exit_code = 2


def nearest(name: str, known: Iterable[str]) -> str:
    """` Did you mean '…'?`, or nothing where no name is near."""
    near = get_close_matches(name, sorted(known), n=1, cutoff=0.5)
    return f" Did you mean '{near[0]}'?" if near else ""


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a name that does not exist: says what exists and offers the nearest name."""
    names = sorted(known)
    return UsageError(f"there is no {kind} '{name}'.{nearest(name, names)} There are: {', '.join(names)}.")
