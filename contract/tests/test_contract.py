"""Every check on every implementation."""

import httpx
import pytest

from contract_checks.backend import Backend
from contract_checks.errors import Undecided
from contract_checks.needs import name_of, other_model, unsupported
from contract_checks.registry import CHECKS, Check, promised

NEW_LINE = "\n"

# The limit is of the check: a fixture that builds has the limit of its docker commands.
pytestmark = [pytest.mark.docker, pytest.mark.timeout(300, func_only=True)]


@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_contract(backend: Backend, check: Check) -> None:
    implementation = backend.implementation
    reason = unsupported(check, implementation) or other_model(check, implementation)
    if reason:
        pytest.skip(reason)
    declared = implementation.checks.get(name_of(check))
    why = declared or ("" if promised(check, implementation) else "not promised by the tier core")
    # What is declared is held to it as well: whoever can do more must say so.
    try:
        check(backend)
    except Undecided as error:
        pytest.skip(f"not decided: {error}")
    except (AssertionError, httpx.TransportError, OSError) as error:
        if not why:
            raise
        pytest.xfail(f"{why} ({str(error).partition(NEW_LINE)[0][:200]})")
    if declared:
        pytest.fail("declared unsupported, but passes")
