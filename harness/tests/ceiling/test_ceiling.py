"""tandem.ceiling.ceiling: shares of the nearest ceiling, and what is not published."""

import io
from datetime import UTC, datetime

import pytest
from rich.console import Console

from tandem.ceiling.ceiling import Ceilings, Rounds, report


def rounds() -> Rounds:
    return Rounds(
        rates={
            "proxy": {1: 20_000.0, 2: 21_000.0, 3: 19_000.0},
            "null": {1: 10_000.0, 2: 10_500.0, 3: 9_500.0},
            "database": {1: 1_000.0, 2: 1_200.0, 3: 1_100.0},
            "rust-async": {1: 900.0, 2: 960.0},
            "python-sync": {2: 600.0},
        },
        costs={"rust-async": [240.0, 250.0]},
        bottlenecks={"rust-async": ["database", "database", "app-cpu"]},
        refused={
            "rust-async": ["round 3: void: the hypervisor took 20 %"],
            "python-sync": ["round 1: invalid"],
        },
    )


def found() -> Ceilings:
    made = rounds()
    return Ceilings(
        started_at=datetime(2026, 11, 21, tzinfo=UTC),
        scenario="recipes",
        topology="full",
        placement="two-cores",
        rounds=3,
        window_s=10,
        seed=1,
        equal_load_rps=300,
        ceilings={name: made.figure(name) for name in ("proxy", "null", "database")},
        implementations={name: made.row(name) for name in ("rust-async", "python-sync")},
    )


def test_the_lowest_ceiling_is_the_nearest() -> None:
    assert rounds().nearest() == "database"
    assert Rounds().nearest() is None


def test_a_share_is_taken_within_the_round() -> None:
    row = rounds().row("rust-async")
    assert row.share == pytest.approx((900 / 1000 + 960 / 1200) / 2)
    assert row.share_interval is not None
    assert row.share_interval[0] < 0.85 < row.share_interval[1]
    assert (row.goodput_rps, row.app_cpu_us_per_request, row.bottleneck) == (930.0, 245.0, "database")


def test_one_round_is_too_few() -> None:
    row = rounds().row("python-sync")
    assert (row.goodput_rps, row.share, row.interval, row.app_cpu_us_per_request) == (None, None, None, None)
    assert row.values == [600.0]


def test_the_report_says_what_does_not_count() -> None:
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(report(found()))
    text = console.export_text()
    assert "rust-async: round 3: void: the hypervisor took 20 %" in text
    assert "at 300/s for all" in text
    assert "85 ± " in text


def test_a_record_can_be_read_back() -> None:
    text = found().model_dump_json()
    assert Ceilings.model_validate_json(text).model_dump_json() == text
