"""The cost of a visit besides its loads, and the harness's own CPU time: on this machine alone, and over three hosts.

PYTHONPATH=harness:harness/tests python3 harness/benchmarks/lab_visit.py

In the harness's container, as the tests run. The hosts are containers with a Docker engine and an SSH server of their own, on this
machine, so its CPUs do the work of all three.
"""

import json
import statistics
import sys
import tempfile
from pathlib import Path

from harness_commands import TANDEM, run, trials
from harness_nested import nested

ROLES = {"data": ["db", "pgbouncer"], "work": ["app", "proxy"], "load": ["loadgen"]}
PLAN = "settings"


def visits(*lab: str) -> dict[str, list[float]]:
    """Figures of a bench of rust-async: seconds of each visit besides warm-ups and windows, and cores of the harness in each window."""
    with tempfile.TemporaryDirectory() as results:
        done = run(*TANDEM, "bench", "rust-async", "--plan", PLAN, "--json", *lab, TANDEM_RESULTS=results)
        folders = [file.parent for file in Path(results).glob("*/result.json")]
        if len(folders) != 1:
            sys.exit(done.stderr)
        made = trials(folders[0])
    windows = [one for trial in made for record in trial["windows"] for one in record["windows"].values()]
    return {
        "overhead_s": [round(trial["overhead_s"], 2) for trial in made if trial["overhead_s"] is not None],
        "harness_cores": [round(one["host"]["harness_cpu_cores"], 4) for one in windows],
    }


def main() -> None:
    """Prints both as JSON."""
    here = visits()
    with tempfile.TemporaryDirectory() as folder, nested(Path(folder), *ROLES) as hosts:
        lab = ["--lab", str(hosts.write("three", ROLES))]
        visits(*lab)  # copies the images
        far = visits(*lab)
    found = {"here": here, "three hosts": far}
    middle = {
        name: {what: round(statistics.median(values), 3) for what, values in one.items()}
        for name, one in found.items()
    }
    print(json.dumps({"hosts": len(ROLES), "median": middle, "all": found}, indent=1))


if __name__ == "__main__":
    main()
