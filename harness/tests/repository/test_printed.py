"""documents.printed and documents.crossovers: what a benchmark printed, and who wins at which wait."""

from pathlib import Path

from harness_page import keep_crossover

from documents.crossovers import cells, told
from documents.printed import printed
from documents.records import Records


def test_what_a_benchmark_printed_is_shown_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "results/reference-benchmarks/parts.txt"
    file.parent.mkdir(parents=True)
    file.write_text("parser   12.0 us\n\n")
    records = Records(tmp_path)
    assert printed(records, "parts") == "```text\nparser   12.0 us\n```"
    assert printed(records, "none") == "not measured"


def test_a_crossover_is_told_and_shown(tmp_path: Path) -> None:
    keep_crossover(tmp_path / "results/crossovers/python")
    records = Records(tmp_path)
    assert cells(records, "python").startswith("| threads, pool | wait, ms |")
    assert "wins at" in told(records, "python")
    assert told(records, "none") == "not measured"
