"""tandem.campaign.report: what a person reads at the end."""

import io
from datetime import timedelta

import pytest
from harness_samples import good_environment, good_run, good_trial
from rich.console import Console
from tandem.campaign.report import report

from tandem.judge import bottleneck
from tandem.old.run import Environment, Phase, Run, Summary, Warning
from tandem.record.window import Verdict
from tandem.wording import BOTTLENECKS, number, with_interval

FIGURES = ["1,234 ± 34", "5.0", "9.0", "13.0", "740", "777 ± 7", "50.0"]


def render(*runs: Run) -> str:
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(report(list(runs)))
    return console.export_text()


def line(text: str, start: str) -> str:
    return next(one for one in text.splitlines() if one.lstrip("│ ").startswith(start))


def knobs(**values: str) -> Environment:
    environment = good_environment()
    return environment.model_copy(update={"knobs": {**environment.knobs, **values}})


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("│ ").split("│")]


def test_a_good_run() -> None:
    text = render(good_run())
    assert "recipes, topology full, placement two-cores, plan quick" in text
    row = line(text, "rust-async")
    assert cells(row)[:9] == ["rust-async", "ok", *FIGURES]
    assert cells(row)[9].startswith("the application's")
    assert "limited by the application's CPU: app 0.95 of 1 cores (95%)" in text
    assert "knobs: DB_POOL_MAX=20, WORKERS=1" in text


def test_a_run_that_is_not_ok_has_dashes_and_a_reason() -> None:
    run = good_run(
        verdict=Verdict.INVALID, summary=Summary(), reasons=["trial 1: the database ran 'steps' 0 times"]
    )
    text = render(run)
    row = line(text, "rust-async")
    assert "invalid" in row
    assert row.count("–") == 7
    for figure in FIGURES:
        assert figure not in row
    assert "rust-async: invalid: trial 1: the database ran 'steps' 0 times" in text


def test_warnings_are_told_with_their_code() -> None:
    run = good_run(warnings=[Warning(code="steal", text="trial 2: the hypervisor took 4.0% of the CPU")])
    assert "rust-async: trial 2: the hypervisor took 4.0% of the CPU [steal]" in render(run)
    assert "steal" not in render(good_run())


def test_where_the_time_went() -> None:
    seconds = {"warm up": 10.0, "closed": 30.0, "open": 30.4}
    trial = good_trial(phases=[Phase(name=name, duration_s=value) for name, value in seconds.items()])
    run = good_run(trials=[trial, trial], finished_at=good_run().started_at + timedelta(seconds=180))
    assert (
        "time: open 61 s, closed 60 s, builds, stack, ceilings and interruptions 39 s, warm up 20 s"
        in " ".join(render(run).split())
    )


def test_a_ceiling_that_was_passed_is_told() -> None:
    low = {"null": 20_000.0, "database": 771.0, "proxy": None}
    text = " ".join(render(good_run(ceilings_rps=low)).split())
    assert "applications reached more than database did in its one look" in text
    assert "applications reached more" not in render(good_run(ceilings_rps={**low, "database": 1300.0}))


def test_a_run_without_a_bottleneck() -> None:
    text = render(good_run(bottleneck=None, bottleneck_evidence=[]))
    assert line(text, "rust-async").count("–") == 1
    assert "limited by the" not in text


def test_a_difference_of_knobs_is_never_silent() -> None:
    text = render(
        good_run("rust-async", environment=knobs(WORKERS="1")),
        good_run("python-sync", environment=knobs(WORKERS="4", THREADS="10")),
    )
    assert "knobs: DB_POOL_MAX=20" in text
    assert "rust-async has WORKERS=1" in text
    assert "python-sync has WORKERS=4, THREADS=10" in text or "python-sync has THREADS=10, WORKERS=4" in text
    assert line(text, "rust-async")
    assert line(text, "python-sync")


def test_runs_with_the_same_knobs_have_no_line_of_their_own() -> None:
    text = render(good_run("rust-async"), good_run("python-sync"))
    assert " has " not in text


def test_every_bottleneck_has_words() -> None:
    tags = {tag for tag, _ in bottleneck.LIMITS.values()}
    assert (
        tags
        | {"generator-thread", "app-thread", "pool-wait", "thread-pool"}
        | {"latency-bound", "offered-load", "disk", "unknown"}
        == BOTTLENECKS.keys()
    )


def test_an_unknown_bottleneck_is_shown_as_it_is() -> None:
    assert "new-tag" in render(good_run(bottleneck="new-tag"))


@pytest.mark.parametrize(
    ("value", "digits", "told"),
    [(None, 0, "–"), (0.0, 1, "0.0"), (1234.56, 0, "1,235"), (1234.56, 1, "1,234.6")],
)
def test_a_number(value: float | None, digits: int, told: str) -> None:
    assert number(value, digits) == told


def test_an_interval_is_told_by_its_half_width() -> None:
    assert with_interval(100.0, (90.0, 110.0)) == "100 ± 10"
    assert with_interval(100.0, None) == "100"
    assert with_interval(None, (90.0, 110.0)) == "–"
