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


def test_each_role_is_charged_by_its_cores() -> None:
    roles = quiet_roles(
        app=role(0.5), proxy=role(0.1), pgbouncer=role(0.3), db=role(0.4), faults=role(0.2), harness=role(0.1)
    )
    window = good_window(app_cpu_us_per_request=1000.0, roles=roles)
    found = cpu_us_per_request_by_role(window)
    assert found == pytest.approx({"app": 1000.0, "pgbouncer": 600.0, "db": 800.0, "proxy": 200.0})
    assert total_cpu_us_per_request(window) == pytest.approx(2600.0), (
        "generator, harness and Toxiproxy are not it"
    )


def test_a_role_that_does_not_run_is_left_out() -> None:
    window = good_window(app_cpu_us_per_request=1000.0, roles={"app": role(0.5), "db": role(0.5)})
    assert cpu_us_per_request_by_role(window) == {"app": 1000.0, "db": 1000.0}


@pytest.mark.parametrize(
    "changes",
    [
        {"app_cpu_us_per_request": None},
        {"roles": {}},
        {"roles": {"app": role(0.0), "db": role(0.5)}},
    ],
)
def test_what_was_not_measured_is_null(changes: dict[str, Any]) -> None:
    window = good_window(**changes)
    assert cpu_us_per_request_by_role(window) == {}
    assert total_cpu_us_per_request(window) is None


def test_what_is_shared_by_several_at_once_is_nobodys() -> None:
    assert total_cpu_us_per_request(good_window(), alone=True) is not None
    assert total_cpu_us_per_request(good_window(), alone=False) is None
    assert cpu_us_per_request_by_role(good_window(), alone=False) == {}


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
