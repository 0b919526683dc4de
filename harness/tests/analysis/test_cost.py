"""tandem.analysis.cost: CPU per request over all roles."""

import math
from statistics import fmean
from typing import Any

import pytest
from harness_places import ROOT
from harness_samples import good_window, quiet_roles, role

from tandem.analysis.cost import cpu_us_per_request_by_role, total_cpu_us_per_request
from tandem.record.trial import WindowRecord
from tandem.studies.registry import read_folder

ROLES = quiet_roles(
    app=role(0.5), proxy=role(0.1), pgbouncer=role(0.3), db=role(0.4), faults=role(0.2), harness=role(0.1)
)


@pytest.mark.parametrize(
    ("changes", "alone", "told"),
    [
        # Generator, harness and Toxiproxy are not it; a role that does not run is left out.
        ({"roles": ROLES}, True, {"app": 1000.0, "pgbouncer": 600.0, "db": 800.0, "proxy": 200.0}),
        ({"roles": {"app": role(0.5), "db": role(0.5)}}, True, {"app": 1000.0, "db": 1000.0}),
        # What was not measured is null, and what several shared at once is nobody's.
        ({"app_cpu_us_per_request": None}, True, {}),
        ({"roles": {}}, True, {}),
        ({"roles": {"app": role(0.0), "db": role(0.5)}}, True, {}),
        ({"roles": ROLES}, False, {}),
    ],
)
def test_each_role_is_charged_by_its_cores(
    changes: dict[str, Any], alone: bool, told: dict[str, float]
) -> None:
    window = good_window(**{"app_cpu_us_per_request": 1000.0, **changes})
    assert cpu_us_per_request_by_role(window, alone) == pytest.approx(told)
    total = total_cpu_us_per_request(window, alone)
    assert total == (pytest.approx(sum(told.values())) if told else None)


def test_a_committed_comparison_tells_its_total() -> None:
    """Async Falcon's application needs half as much again; all roles together hardly more than a tenth."""
    _, _, trials = read_folder(ROOT / "results/comparisons/falcon")
    records = [record for trial in trials for record in trial.windows if record.windows]
    assert {record.spec.name for record in records if not record.alone} == {"duet"}, (
        "slices are of one at a time"
    )

    def against(record: WindowRecord, alone: bool) -> tuple[float, float]:
        parts = {label: cpu_us_per_request_by_role(window, alone) for label, window in record.windows.items()}
        variant, first, again = (parts[label] for label in ("falcon-async", "falcon-sync", "falcon-sync~2"))

        def ln(figure: dict[str, float], key: str) -> float:
            return math.log(sum(figure.values()) if key == "all" else figure[key])

        found = [ln(variant, key) - fmean([ln(first, key), ln(again, key)]) for key in ("app", "all")]
        return found[0], found[1]

    sliced = [against(record, record.alone) for record in records if record.spec.slices]
    own, total = (math.exp(fmean(part)) for part in zip(*sliced, strict=True))
    assert (own, total) == pytest.approx((1.450, 1.134), abs=0.001)
