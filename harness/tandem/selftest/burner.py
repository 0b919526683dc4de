"""A load for the sampler, which knows what it used, alone in a container: `python3 -c SOURCE MODE ARGUMENTS`.

It prints its use by its own clocks, and holds still before and after, so that counters can be read.
Nothing but the standard library: the container has no harness.
"""

import json
import mmap
import os
import resource
import sys
import time

BEFORE_S, AFTER_S = 2.0, 2.0
CYCLE_S = 0.02
TOGETHER_S, CLOCK_READS = 0.0002, 100
PAGE = 4096


def _burn(cpu_s: float) -> None:
    end = time.process_time() + cpu_s
    while time.process_time() < end:
        pass


def share(shares: list[float], seconds: float) -> None:
    """Uses these shares of cores, one after the other, each for so long; prints a line per process and cycle."""
    for wanted in shares:
        children = []
        for number in range(int(wanted - 1e-9) + 1):
            child = os.fork()
            if child == 0:
                _duty(min(1.0, wanted - number), seconds, f"{wanted:.2f}", number)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)


def _duty(part: float, seconds: float, label: str, number: int) -> None:
    begun, lines = time.time(), []
    while time.time() < begun + seconds:
        cycle = time.monotonic()
        _burn(part * CYCLE_S)
        left = CYCLE_S - (time.monotonic() - cycle)
        if part < 1 and left > 0:
            time.sleep(left)
        at_s, cpu_s = _clocks()
        lines.append(json.dumps({"share": label, "process": number, "at_s": at_s, "cpu_s": cpu_s}))
    print("\n".join(lines), flush=True)
    os._exit(0)


def _clocks() -> tuple[float, float]:
    """The time and the CPU time of this process, read together: once more where it was preempted in between."""
    for _ in range(CLOCK_READS):
        before = time.time()
        cpu_s = time.process_time()
        at_s = time.time()
        if at_s - before < TOGETHER_S:
            break
    return at_s, cpu_s


def children(number: int, cpu_s: float) -> None:
    """Runs many short processes, one after the other."""
    for _ in range(number):
        child = os.fork()
        if child == 0:
            _burn(cpu_s)
            os._exit(0)
        os.waitpid(child, 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({"cpu_s": used.ru_utime + used.ru_stime, "least_s": number * cpu_s}), flush=True)


def memory(size: int, touched: bool, forks: int) -> None:
    """Anonymous memory, touched or not, then copies of the process that leave it alone."""
    area = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for offset in range(0, size if touched else 0, PAGE):
        area[offset] = 1
    for _ in range(forks):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    print(json.dumps({"size_bytes": size}), "done", sep="\n", flush=True)
    time.sleep(60)  # until it is removed; what left this function would be given back
    area.close()


def main() -> None:
    mode, *arguments = sys.argv[1:]
    time.sleep(BEFORE_S)
    if mode == "share":
        share([float(text) for text in arguments[0].split(",")], float(arguments[1]))
    elif mode == "children":
        children(int(arguments[0]), float(arguments[1]))
    else:
        memory(int(arguments[0]), arguments[1] == "touched", int(arguments[2]))
    print("done", flush=True)
    time.sleep(AFTER_S)


if __name__ == "__main__":
    main()
