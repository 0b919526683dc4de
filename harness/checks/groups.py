"""Which tests share a process where several run at the same time: those that use the same containers, in their order.

xdist has marks for that, but what they rely on is no longer in pytest 9: every test went to any process, each process
started every implementation, and what one test begins for a later one was waited for in full.
"""

import re
from pathlib import PurePath
from typing import Any
from zlib import crc32

import pytest
from xdist.scheduler import LoadScopeScheduling

FAULT_PARTS = 2
"""Number of processes that share the faults of contract/broken, where there are several; each has a stack of its own."""
BESIDE = {
    "test_matrix_end_to_end.py": "commands",
    "test_interruptions.py": "commands",
    "test_remote_host.py": "labs",
    "test_nested_hosts.py": "labs",
    "test_doctor_of_a_lab.py": "labs",
}
"""Files of harness/tests/containers that start containers and measure nothing of an application, so others may run at the same
time -> their group. The commands use one Compose project; each lab has engines of its own."""

IMAGES = ("test_published_images.py", "test_kept_images.py", "test_old_images.py", "test_actionlint.py")
"""Files of the same folder that build and look at small images, in one group: some look at all that the engine has."""


def group(nodeid: str) -> str:
    """The group of a test. nodeid: pytest's, such as `contract/tests/test_contract.py::test_contract[node-index]`."""
    path, _, test = nodeid.partition("::")
    file = PurePath(path).name
    if file in BESIDE:
        return BESIDE[file]
    if file in IMAGES:
        return "images"
    if file == "test_broken.py":
        return f"faults {crc32(test.encode()) % FAULT_PARTS}" if test.startswith("test_fault") else "broken"
    # Names of checks have no hyphen; those of implementations may.
    asked = re.fullmatch(r"test_contract\[(.+)-[^-]+\]", test)
    return asked[1] if asked else nodeid


class _Scheduling(LoadScopeScheduling):  # type: ignore[misc]
    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


class Groups:
    """A plugin for pytest: takes effect with `--dist loadscope`."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> _Scheduling | None:
        return _Scheduling(config, log) if config.getoption("dist") == "loadscope" else None
