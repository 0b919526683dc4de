"""Every check on every implementation."""

import pytest

from contract_checks.backend import Backend
from contract_checks.registry import CHECKS, Check, unsupported

# Builds count for the first test.
pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_contract(backend: Backend, check: Check) -> None:
    reason = unsupported(check, backend.implementation.unsupported)
    if reason:
        pytest.skip(reason)
    check(backend)
