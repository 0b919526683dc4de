"""How often the interval of a capacity holds the truth, and how wide it is, by how much starts and probes differ.

python3 harness/benchmarks/capacity.py [STUDIES]
"""

import sys

from tandem.selftest.capacity import coverage

SCATTERS = ((0.08, 0.05), (0.02, 0.05), (0.15, 0.05), (0.08, 0.01), (0.0, 0.02))
STUDIES = 1000


def main(studies: int) -> None:
    for start_sd, probe_sd in SCATTERS:
        held, naive, width = coverage(start_sd, probe_sd, studies)
        print(
            f"starts {start_sd:4.0%}, probes {probe_sd:3.0%}: the interval holds the limit in {held:.1%} of {studies},"
            f" +-{width:.1%}; the first start taken for all: {naive:.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)
