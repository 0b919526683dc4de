"""documents.scale: fifty hosts on paper."""

import json
from pathlib import Path

from documents import scale
from documents.records import Records


def test_what_grows_is_counted_from_a_lab() -> None:
    lab = scale.lab(50)
    assert len(lab.hosts_of("loadgen")) == 48
    assert len(lab.links()) == 49, "each generator's host and the database's with the application's"


def test_what_is_copied_grows_with_generators() -> None:
    images = {"db": 400, "pgbouncer": 100, "app": 80, "proxy": 90, "loadgen": 50, "agent": 10}
    three = 400 + 100 + 80 + 90 + 50 + 3 * 10
    assert scale.copied_bytes(scale.lab(3), images) == three
    assert scale.copied_bytes(scale.lab(5), images) == three + 2 * (50 + 10)


def test_what_nobody_measured_is_told_so(tmp_path: Path) -> None:
    records = Records(tmp_path)
    assert scale.merging(records) == scale.visit(records) == "not measured"
    assert scale.table(records).count("not measured") == 2 * len(scale.NUMBERS)


def test_the_committed_figure_is_the_sum_that_was_printed(root: Path) -> None:
    printed = (root / "results/reference-benchmarks/merging.txt").read_text()
    seconds = float(printed.split("all stages")[1].split()[0])
    assert scale.merging(Records(root)).startswith(f"{seconds:.0f} s for ")
    assert seconds < 60, "ten million rows"


def test_a_visit_over_three_hosts_costs_little(root: Path) -> None:
    printed = json.loads((root / "results/reference-benchmarks/lab-visit.json").read_text())
    far = printed["median"]["three hosts"]
    assert printed["hosts"] == 3
    assert far["overhead_s"] < 6
    assert far["harness_cores"] / printed["hosts"] < 0.05, "of a core on each host"
    told = scale.visit(Records(root))
    assert told.startswith(f"{far['overhead_s']:.1f} s over 3 hosts")
