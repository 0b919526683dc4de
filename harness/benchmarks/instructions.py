"""Instructions in user mode of a request for a recipe, by program, and the functions in which programs differ.

PYTHONPATH=harness python3 harness/benchmarks/instructions.py rust-sync@3f09420 rust-sync@6f0bb6a

In the harness's container, as the tests run; takes a minute for each program. Each is NAME@COMMIT, of a language whose
programs have names of functions in them. It runs under callgrind beside a stack of its own. The count does not depend on how fast
or how busy the host is, so it shows in which functions two builds differ. It is no time: a kernel's work is not in it, nor what
a cache or a wrong guess of a branch costs. What a difference is worth, `just compare` says.
https://valgrind.org/docs/manual/cl-manual.html
"""

import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tandem.lab import kept_images
from tandem.lab.old_images import BUILT
from tandem.lab.stack import LABEL
from tandem.load.client import session_key

ROOT = Path(__file__).resolve().parents[2]
APP, COUNTED = "tandem-app-1", "tandem-counted"
"""The application that `up` starts, and the program that is counted."""
BEGIN = "echo $$ >/tmp/pid; exec valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=/tmp/counted $1"
END = "kill $(cat /tmp/pid); while [ -e /proc/$(cat /tmp/pid) ]; do sleep 0.2; done"
"""The counts are written as the program ends."""
WARM, REQUESTS, CONNECTIONS = 400, 2000, 8
SHOWN = 0.01
"""Share of the first program's instructions below which a function that differs is left out."""
LINE = re.compile(r"\s*([\d,]+) \(\s*[\d.]+%\)\s+\S*?:(.*?)(?: \[[^\]]*\])?$")
HASHED = re.compile(r"::h[0-9a-f]{16}|'\d+$")
"""Suffixes that differ from build to build, or tell a recursion from its first call."""
DOCKERFILE = """
FROM {image}
USER root
RUN apt-get update && apt-get install -y --no-install-recommends valgrind
"""


def said(*command: str, text: str | None = None) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command[:4])} ...: {done.stderr[-1000:]}")
    return done.stdout


def by_function(annotated: str) -> Counter[str]:
    """Instructions of each function. annotated: what callgrind_annotate prints."""
    found: Counter[str] = Counter()
    for line in annotated.splitlines():
        if match := LINE.match(line):
            found[HASHED.sub("", match[2])] += int(match[1].replace(",", ""))
    return found


def table(counted: dict[str, Counter[str]], requests: int) -> Iterator[str]:
    """Each program's instructions per request and, below it, the functions in which it differs from the first."""
    (_, first), *_ = counted.items()
    for program, found in counted.items():
        more = found.total() - first.total()
        yield f"{program:20} {found.total() / requests:9,.0f}" + (
            f"  {more / first.total():+.1%}" if found is not first else ""
        )
        differing = {name: found[name] - first[name] for name in found | first}
        for name, difference in sorted(differing.items(), key=lambda one: -abs(one[1])):
            if abs(difference) >= SHOWN * first.total():
                yield f"  {difference / requests:+9,.0f}  {name}"


def load(requests: int) -> None:
    said(
        *("docker", "run", "--rm", "--network", f"container:{COUNTED}", "--label", f"{LABEL}=stack"),
        *("tandem/loadgen-oha", "oha", "--no-tui", "-n", str(requests), "-c", str(CONNECTIONS)),
        *("-H", f"Cookie: sessionid={session_key(7)}", "http://127.0.0.1:8080/api/v1/recipes"),
    )


@contextmanager
def started(image: str, program: str) -> Iterator[None]:
    """The program under callgrind, which counts nothing yet, with the environment of the one that the stack has."""
    environment = said("docker", "inspect", "--format", "{{range .Config.Env}}{{println .}}{{end}}", APP)
    variables = [part for line in environment.splitlines() if line for part in ("--env", line)]
    network = said(
        "docker",
        "inspect",
        "--format",
        "{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}",
        APP,
    )
    said(
        *("docker", "run", "--detach", "--rm", "--init", "--name", COUNTED, "--label", f"{LABEL}=stack"),
        *("--network", network.strip(), *variables, "--workdir", "/tmp", image, "sleep", "600"),
    )
    try:
        said("docker", "exec", "--detach", COUNTED, "sh", "-c", BEGIN, "sh", program)
        time.sleep(5)
        yield
    finally:
        subprocess.run(["docker", "kill", COUNTED], capture_output=True, check=False)


def count(program: str) -> Counter[str]:
    """Builds the program's image if there is none, and counts."""
    name, _, tag = program.partition("@")
    if not kept_images.present(name, tag) and not kept_images.of_commit(ROOT, name, tag):
        sys.exit(f"{program}: there is no such commit")
    image = f"tandem/counted:{name}-{tag}"
    said(
        *("docker", "build", "--quiet", "--label", f"{BUILT}=stack", "--tag", image, "-"),
        text=DOCKERFILE.format(image=kept_images.reference(name, tag)),
    )
    with started(image, name):
        load(WARM)
        said("docker", "exec", COUNTED, "callgrind_control", "--instr=on")
        load(REQUESTS)
        said("docker", "exec", COUNTED, "callgrind_control", "--instr=off")
        said("docker", "exec", COUNTED, "sh", "-c", END)
        return by_function(
            said("docker", "exec", COUNTED, "callgrind_annotate", "--threshold=100", "/tmp/counted")
        )


def main() -> None:
    """Prints the table."""
    programs = sys.argv[1:]
    if not programs or not all("@" in one for one in programs):
        sys.exit(__doc__)
    said("python3", "-m", "tandem", "up", programs[0].partition("@")[0])
    try:
        counted = {program: count(program) for program in programs}
    finally:
        said("python3", "-m", "tandem", "down")
    print(f"{REQUESTS:,} requests by {CONNECTIONS} connections")
    print("\n".join(table(counted, REQUESTS)))


if __name__ == "__main__":
    main()
