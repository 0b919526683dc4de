"""Says whether a bench left what it must, on control groups v2: a verdict, judged windows, the counters of every role, images' origins."""

import json
import sys
from pathlib import Path

ROLES = {"app", "proxy", "pgbouncer", "db", "loadgen"}


def main(folder: Path) -> int:
    if not (folder / "result.json").is_file():
        print(f"{folder} has no result.json")
        return 1
    record = json.loads((folder / "result.json").read_text())
    common = record["environments"]["common"]
    version, taken = common["host"]["cgroup_version"], common.get("taken") or {}
    print(
        f"verdict: {record['verdict']}; trials: {record['trials']}; control groups v{version}; images taken: {sorted(taken)}"
    )
    print(f"{record['headline']}\nreasons: {'; '.join(record['reasons'])}")
    windows = []
    for file in sorted((folder / "trials").glob("*.json")):
        trial = json.loads(file.read_text())
        print(f"{file.name}: {trial['verdict']}; {'; '.join(found['code'] for found in trial['findings'])}")
        windows += [one for window in trial["windows"] for one in window["windows"].values()]
    counted = [window["roles"] for window in windows if set(window["roles"]) >= ROLES]
    for roles in counted:
        told = (
            f"{name} {role['cpu_cores']:.2f} cores {role['memory_peak_bytes'] / 1e6:.0f} MB"
            for name, role in roles.items()
        )
        print(", ".join(told))
    whole = all(
        role["cpu_cores"] > 0 and role["memory_peak_bytes"] > 0
        for roles in counted
        for role in roles.values()
    )
    good = version == 2 and bool(counted) and whole
    print("the record is whole" if good else "the record is not whole")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
