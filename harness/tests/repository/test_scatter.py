"""benchmarks.scatter: which windows of the baseline it looks at."""

import pytest
from harness_places import ROOT

from benchmarks.scatter import pairs
from tandem.engine.blocks import counting
from tandem.record.window import Verdict
from tandem.studies.registry import read_folder


@pytest.mark.parametrize("label", ["falcon-sync", "falcon-sync~2"])
def test_a_window_that_is_not_ok_is_no_data(label: str) -> None:
    block = counting(read_folder(ROOT / "results/comparisons/falcon")[2])[0]
    assert "CPU per request in slices" in [name for name, _ in pairs(block, "falcon-sync")]
    for record in block.windows:
        if label in record.windows:
            record.windows[label].verdict = Verdict.VOID
    assert [*pairs(block, "falcon-sync")] == []
