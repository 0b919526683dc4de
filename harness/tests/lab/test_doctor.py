"""tandem.lab.doctor: what is said of a machine that grants less."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tandem.lab import doctor


@pytest.mark.parametrize(("granted", "state"), [(True, "good"), (False, "limited")])
def test_a_machine_on_which_nothing_can_be_captured_is_told_so(granted: bool, state: str) -> None:
    found = doctor.capture(cast(Any, SimpleNamespace(can_capture=lambda: granted)))
    assert found.state == state
    assert ("NET_RAW" in found.means) == (not granted)
