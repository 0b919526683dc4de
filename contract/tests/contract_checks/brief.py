"""A failing check in a few lines: what was asked, what was expected, what came, and where to look."""

from collections.abc import Callable
from pathlib import Path
from traceback import extract_tb
from typing import Any

from contract_checks.catalog import ROOT
from contract_checks.errors import Failed
from contract_checks.needs import name_of

WIDTH = 400


def brief(check: Callable[..., Any], name: str, error: BaseException) -> str:
    """What a person who writes the implementation `name` needs to know of the failure."""
    own = name_of(check)
    lines = [f"{own}: {' '.join((check.__doc__ or '').split())}"]
    if isinstance(error, Failed):
        lines += [f"  request   {error.what}: {error.request}", f"  expected  {error.expected}"]
        lines += [f"  received  {error.received}", f"  remedy    {error.remedy}"]
    else:
        said = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
        lines += [f"  received  {said.replace(chr(10), chr(10) + '            ')}"]
        lines += [f"  remedy    the check says what it wants: {_place(error)}"]
    lines = [line if len(line) <= WIDTH else f"{line[:WIDTH]} ..." for line in "\n".join(lines).splitlines()]
    return "\n".join([*lines[:12], f"  again     just verify {name} --only {own} --verbose"])


def _place(error: BaseException) -> str:
    """The line of the checks that failed, the outermost: what it calls is the same for all."""
    for frame in extract_tb(error.__traceback__):
        if frame.name.startswith("check_"):
            return f"{Path(frame.filename).relative_to(ROOT)}:{frame.lineno}"
    return "contract/tests/contract_checks"
