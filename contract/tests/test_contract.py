"""Every check on every implementation."""

import httpx
import pytest

from contract_checks.backend import Backend
from contract_checks.needs import name_of, other_model, unsupported
from contract_checks.registry import CHECKS, Check

# Builds count for the first test.
pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]


@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_contract(backend: Backend, check: Check) -> None:
    implementation = backend.implementation
    reason = unsupported(check, implementation) or other_model(check, implementation)
    if reason:
        pytest.skip(reason)
    declared = implementation.checks.get(name_of(check))
    if declared is None:
        check(backend)
        return
    # What is declared is held to it as well: whoever can do more must say so.
    try:
        check(backend)
    except (AssertionError, httpx.TransportError, OSError) as error:
        pytest.xfail(f"{declared} ({str(error).splitlines()[0][:200]})")
    pytest.fail("declared unsupported, but passes")
