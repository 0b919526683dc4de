"""tandem.studies.bench.report: what a person reads at the end."""

import math
from typing import Any

import pytest
from harness_engine import environment_of, made_trial, request, text
from harness_samples import NOW, finding, good_window

from tandem.analysis.ratios import compare
from tandem.engine.run import phases
from tandem.judge import bottleneck
from tandem.record.result import Baselines, Environment, Result
from tandem.record.trial import Phase
from tandem.record.window import DbRtt, Resource, Verdict
from tandem.report.markdown import of_result
from tandem.studies.bench.conclusions import Against, Benched, ResponseTime, Row, Summary, round_trip
from tandem.studies.bench.report import report
from tandem.wording import BOTTLENECKS, number, with_interval

FIGURES = ["1,234 ± 34", "5.0", "9.0", "13.0", "740", "3,122 ± 22", "777 ± 7", "/ 50"]
SUMMARY = Summary(
    goodput_rps=1234.4,
    goodput_rps_interval=(1200.0, 1268.8),
    response_time_ms=ResponseTime(p50=5.01, p90=9.02, p99=13.03),
    response_time_range_ms={"p50": (4.0, 6.0), "p90": (9.02, 9.02)},
    response_time_samples=30_000,
    offered_rps=740.0,
    total_cpu_us_per_request=3122.0,
    total_cpu_us_per_request_interval=(3100.0, 3144.0),
    app_cpu_us_per_request=777.0,
    app_cpu_us_per_request_interval=(770.0, 784.0),
    behind_cpu_us_per_request=2345.0,
    requests_per_core_s=1e6 / 777,
    app_memory_peak_bytes=50 << 20,
    app_memory_rest_bytes=12 << 20,
    app_memory_per_connection_bytes=800 << 10,
    trials_ok=3,
)


def good_row(label: str = "rust-async", **changes: Any) -> Row:
    fields: dict[str, Any] = {
        "label": label,
        "verdict": Verdict.OK,
        "reasons": [],
        "bottleneck": "app-cpu",
        "bottleneck_evidence": ["app 0.95 of 1 cores (95%)"],
        "findings": [],
        "summary": SUMMARY,
        **changes,
    }
    return Row(**fields)


def benched(*rows: Row, **changes: Any) -> Result[Benched]:
    several = list(rows) or [good_row()]
    fields: dict[str, Any] = {
        "id": "20261121T120000Z-bench-rust-async-quick",
        "request": request(*(row.label for row in several), plan="quick"),
        "started_at": NOW,
        "finished_at": NOW,
        "verdict": Verdict.OK,
        "reasons": [],
        "findings": [],
        "trials": {Verdict.OK: 3},
        "baselines": Baselines(),
        "conclusions": Benched(rows=several),
        "environments": {row.label: environment_of(row.label) for row in several},
        **changes,
    }
    return Result[Benched](**fields)


def render(*rows: Row, **changes: Any) -> str:
    return text(report(benched(*rows, **changes)), 140)


def markdown(result: Result[Benched]) -> str:
    return of_result(report(result), result)


def line(text: str, start: str) -> str:
    return next(one for one in text.splitlines() if one.lstrip("│ ").startswith(start))


def settings(**values: str) -> Environment:
    environment = environment_of()
    return environment.model_copy(update={"settings": {**environment.settings, **values}})


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("│ ").split("│")]


def test_a_good_bench() -> None:
    text = render()
    assert "recipes, topology full, placement shared, plan quick" in text
    row = line(text, "rust-async")
    assert cells(row) == ["rust-async", "ok", "3,122 ± 22", "–", "", "777 ± 7", "–", "12 / 50", "800"]
    rates = line(text[text.index("rates and response times") :], "rust-async")
    found = cells(rates)
    assert found[:2] == ["rust-async", "1,234 ± 34"]
    assert found[4].startswith("the application's")
    assert found[5:] == ["5.0 (4.0–6.0)", "9.0", "13.0", "740"]
    assert "limited by the application's CPU: app 0.95 of 1 cores (95%)" in text
    assert "settings: DB_POOL_MAX=20, WORKERS=1" in text


def test_a_variant_that_is_not_ok_has_dashes_and_a_reason() -> None:
    bad = good_row(
        verdict=Verdict.INVALID, summary=Summary(), reasons=["1-x: the database ran 'steps' 0 times"]
    )
    text = render(bad)
    row = line(text, "rust-async")
    assert "invalid" in row
    assert row.count("–") == 7, "every figure, those of memory being one cell"
    for figure in FIGURES:
        assert figure not in row
    assert "rust-async: invalid: 1-x: the database ran 'steps' 0 times" in text


def test_what_the_host_did_stands_beside_what_was_wrong() -> None:
    bad: dict[str, Any] = {
        "verdict": Verdict.INVALID,
        "summary": Summary(),
        "reasons": ["1-x: a wrong length"],
    }
    assert "invalid, void" in line(render(good_row(**bad, disturbed=2, retried=3)), "rust-async")
    assert "void" not in render(good_row(**bad, disturbed=0))
    assert "| invalid, void |" in markdown(benched(good_row(**bad, disturbed=1)))


def test_starts_that_were_made_again_are_counted() -> None:
    told = "rust-async: the host disturbed 2 of its starts, and 3 were repeated"
    assert told in render(good_row(disturbed=2, retried=3))
    assert "repeated" not in render(good_row())


def test_warnings_are_told_with_their_code() -> None:
    stolen = finding("warning", "steal", "2-x: the hypervisor took 4.0% of the CPU")
    assert "rust-async: 2-x: the hypervisor took 4.0% of the CPU [steal]" in render(
        good_row(findings=[stolen])
    )
    assert "steal" not in render()
    unfit = finding("warning", "unfit-machine", "the plan is meant for more")
    assert "the plan is meant for more [unfit-machine]" in render(findings=[unfit])


def test_where_the_time_went() -> None:
    seconds = {"warm up": 10.0, "windows": 60.4}
    trial = made_trial()
    trial.phases = [Phase(name=name, duration_s=value) for name, value in seconds.items()]
    text = render(phases_s=phases([trial, trial], {"build": 39.0, "start the stack": 0.2}))
    assert "time: windows 121 s, build 39 s, warm up 20 s" in " ".join(text.split())


def test_a_ceiling_that_was_passed_is_told() -> None:
    def told(**ceilings: float | None) -> str:
        return " ".join(render(baselines=Baselines(ceilings_rps=ceilings)).split())

    low = told(null=20_000.0, database=771.0, proxy=None)
    assert "applications exceeded database, so it is no ceiling and censors nothing" in low
    assert "≥" not in low
    assert "applications exceeded" not in told(null=20_000.0, database=1500.0, proxy=None)
    blocked = good_row(ceiling_shares={"null": 0.06})
    assert "ceilings (in the blocks): null" in render(
        blocked, baselines=Baselines(ceilings_rps={"null": 2e4})
    )


def test_a_variant_without_a_bottleneck() -> None:
    text = render(good_row(bottleneck=None, bottleneck_evidence=[]))
    rates = line(text[text.index("rates and response times") :], "rust-async")
    assert cells(rates)[4] == "–"
    assert "limited by the" not in text


CORE_0 = Resource(
    name="core 0",
    tag="database",
    utilisation=0.98,
    limit=0.9,
    parts={"db": 0.52, "pgbouncer": 0.35, "proxy": 0.07, "loadgen": 0.04},
)


def against(ratio: float, low: float, high: float, word: str, n: int = 6) -> Against:
    found = compare([math.log(ratio)] * n)
    return Against(ratio=found.model_copy(update={"interval": (low, high)}), word=word)


def two(n: int = 6) -> tuple[Row, Row]:
    """The second one costs less; the first one's rate is the machine's."""
    other = {
        "total_cpu_us_per_request": against(0.95, 0.93, 0.97, "cheaper", n),
        "app_cpu_us_per_request": against(0.9, 0.88, 0.92, "cheaper", n),
        "goodput_rps": against(1.1, 1.0, 1.2, "not ranked", n),
    }
    unranked = "core 0: database 52 %, PgBouncer 35 %, HAProxy 7 %"
    return (
        good_row("first", bottleneck="database", resources=[CORE_0], unranked=unranked),
        good_row("second", against_first=other),
    )


def test_the_cheapest_stands_first_with_its_ratio_in_blocks() -> None:
    text = markdown(benched(*two()))
    rows = [one for one in text.splitlines() if one.startswith(("| first", "| second"))]
    assert rows[0].startswith(
        "| second | ok | 3,122 ± 22 | 0.950 (0.930–0.970) | cheaper | 777 ± 7 | 0.900 (0.880–0.920) |"
    )
    assert rows[1].startswith("| first | ok | 3,122 ± 22 | 1 | | 777 ± 7 | 1 |")
    assert rows[2].startswith(
        "| first | 1,234 ± 34 | 1 | not ranked | core 0: database 52 %, PgBouncer 35 %, HAProxy 7 % |"
    )
    assert "| second | 1,234 ± 34 | 1.100 (1.000–1.200) | not ranked | the application's CPU |" in text
    assert "fewer than 6 blocks" not in render(*two())
    assert "fewer than 6 blocks can show that two variants are equivalent" in " ".join(
        render(*two(3)).split()
    )


def test_a_record_without_the_whole_is_ordered_by_the_application() -> None:
    old = [
        row.model_copy(
            update={
                "summary": SUMMARY.model_copy(
                    update={"total_cpu_us_per_request": None, "total_cpu_us_per_request_interval": None}
                ),
                "against_first": {
                    n: of for n, of in row.against_first.items() if n != "total_cpu_us_per_request"
                },
            }
        )
        for row in two()
    ]
    rows = [one for one in markdown(benched(*old)).splitlines() if one.startswith(("| first", "| second"))]
    assert rows[0].startswith("| second | ok | – | – | | 777 ± 7 | 0.900 (0.880–0.920) |")
    assert "can detect a cost difference" in render(*old)


def test_a_difference_of_settings_is_never_silent() -> None:
    environments = {
        "rust-async": settings(WORKERS="1"),
        "python-sync": settings(WORKERS="4", THREADS="10"),
        "ceiling null": settings(WORKERS="7"),
    }
    text = render(good_row("rust-async"), good_row("python-sync"), environments=environments)
    assert "settings: DB_POOL_MAX=20" in text
    assert "rust-async has WORKERS=1" in text
    assert "python-sync has WORKERS=4, THREADS=10" in text
    assert "ceiling null has" not in text, "a stand-in is no variant that was asked for"
    assert line(text, "rust-async")
    assert line(text, "python-sync")


def test_variants_with_the_same_settings_have_no_line_of_their_own() -> None:
    assert " has " not in render(good_row("rust-async"), good_row("python-sync"))


def test_the_table_for_a_page() -> None:
    host = {"cpus": 2, "cpu_model": "x", "memory_bytes": 1 << 30, "kernel": "6"}
    text = markdown(benched(environments={"rust-async": environment_of(host=host)}))
    assert "| rust-async | ok | 3,122 ± 22 | – | | 777 ± 7 | – | 12 / 50 | 800 |" in text
    assert (
        "| rust-async | 1,234 ± 34 | – | | the application's CPU | 5.0 (4.0–6.0) | 9.0 | 13.0 | 740 |" in text
    )
    assert "2026-11-21, 2 × x, 1 GiB, Linux 6; scenario recipes" in text
    assert "3 trials, seed 1." in text


def test_how_far_the_database_was_is_told_where_it_was_asked_for() -> None:
    def trip(during_p50: float) -> DbRtt:
        return DbRtt(setting=15, before_p50=15.6, during_p50=during_p50, during_p90=19.0, samples=12)

    trial = made_trial(
        closed=good_window(db_rtt_ms=trip(17.0)), open=good_window("open", db_rtt_ms=trip(16.0))
    )
    told = (
        "round trip to the database 16.5 ms during the load"
        " (p90 19.0; 15.6 before it; 15 requested; medians of 2 windows)"
    )
    assert round_trip([trial]) == told
    assert round_trip([made_trial()]) is None
    row = good_row(db_rtt=told)
    assert f"rust-async: {told}" in " ".join(render(row).split())
    assert f"rust-async: {told}" in markdown(benched(row))
    assert "round trip" not in render()


def test_every_bottleneck_has_words() -> None:
    tags = {tag for tag, _ in bottleneck.LIMITS.values()}
    assert (
        tags
        | {"generator-thread", "app-thread", "pool-wait", "thread-pool", "distance"}
        | {"latency-bound", "offered-load", "disk", "unknown"}
        == BOTTLENECKS.keys()
    )


def test_an_unknown_bottleneck_is_shown_as_it_is() -> None:
    assert "new-tag" in render(good_row(bottleneck="new-tag"))


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
