"""Where Tandem has run, by the committed sessions and by machines that a script made, and where it has not."""

import re

from documents.records import Records
from tandem.report.markdown import table

MACHINES = {
    "Docker 26.1.5, control groups v2, Debian 13 (systemd), emulated by QEMU": "2026-11-27: bootstrap, doctor, bench (recorded; too slow to be valid), report, page; `docker compose up` not yet",
    "the same with KVM, on GitHub's runner": "in a workflow, which has not run yet",
}
"""What `harness/machines/debian` saw in the machine that it makes."""
UNTRIED = {
    "Docker 28 or later (containerd 2), rootless, podman": "untried",
    "arm64; Fedora; macOS or Windows with Docker Desktop": "untried",
}
"""What no session is of. A row goes once a workflow or a session has it."""
RUNNER = re.compile(r"(?m)^ +runs-on: ([\w.-]+)$")


def platforms(records: Records) -> str:
    """A row for each kind of engine that a session is of, with the date of the newest, for the workflows, and for the rest."""
    newest: dict[str, str] = {}
    for one in records.sessions():  # in order of time
        of = one.machine
        kind = f"Docker {of.engine}, control groups v{of.cgroup_version}, {of.cpus} CPUs"
        newest[kind] = f"tested here, {one.finished_at:%Y-%m-%d}"
    files = sorted((records.root / ".github/workflows").glob("*.yml"))
    runners = sorted({runner for file in files for runner in RUNNER.findall(file.read_text())})
    hosted = {f"GitHub's runner {runner}": "in a workflow, which has not run yet" for runner in runners}
    return table(("platform", "state"), [*(newest | MACHINES | hosted | UNTRIED).items()])
