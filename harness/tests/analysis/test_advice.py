"""tandem.analysis.advice: the least that is enough, and what would change the answer."""

import pytest
from harness_samples import PROPERTY, there
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.advice import SPARE, Ask, Checked, Evidence, advise, choose, confidence, least, size

ASK = Ask(wait_ms=50, cpu_ms=1, pool=None, cores=2, rate_rps=400)


def checked(off: float, elsewhere: bool = True) -> Checked:
    return Checked(record="r", label="a", predicted_rps=1 + off, measured_rps=1, off=off, elsewhere=elsewhere)


def evidence(factor: float | None = 1.0, threads: int = 64, *found: Checked) -> Evidence:
    return Evidence(
        language="python",
        pairs={} if factor is None else {"r": factor},
        threads_most=threads,
        checked=list(found or [checked(0.05)]),
    )


def ask(**changes: object) -> Ask:
    return ASK.model_copy(update=changes)


def test_threads_follow_from_littles_law() -> None:
    """500/s, of which a fifth is spare, times 51 ms."""
    found = size(ASK, "sync", 1.0, one_core=True)
    assert 25 <= found.in_flight <= 28
    assert (found.workers, found.threads, found.lacks) == (2, 14 if found.in_flight > 26 else 13, None)
    assert found.possible_rps >= 400 / SPARE


@PROPERTY
@given(
    st.floats(0, 200),
    st.floats(0.1, 10),
    st.integers(1, 8),
    st.floats(1, 2000),
    st.one_of(st.none(), st.integers(1, 100)),
)
def test_what_reaches_the_rate_is_no_more_than_needed(
    wait: float, cpu: float, cores: int, rate: float, pool: int | None
) -> None:
    asked = Ask(wait_ms=wait, cpu_ms=cpu, cores=cores, rate_rps=rate, pool=pool)
    found = size(asked, "async", cpu, one_core=True)
    if found.lacks is None:
        assert found.possible_rps >= rate / SPARE * (1 - 1e-6)
        assert found.pool is None or found.pool <= (pool or 0)
        assert found.in_flight / (wait + cpu) * 1e3 >= rate / SPARE * (1 - 1e-6), "Little"
    else:
        assert found.possible_rps < rate / SPARE or cores / cpu * 1e3 <= rate / SPARE


@pytest.mark.parametrize(
    ("asked", "factor", "threads", "model", "told"),
    [
        # The simpler one where records have so many threads, else the cheaper one.
        (ASK, 1.0, 64, "sync", ""),
        (ASK, 1.0, 8, "async", "no record of python has more than 8"),
        (ASK, 0.5, 8, "async", "2.00 times the CPU time"),
        (ASK, 2.0, 8, "sync", "2.00 times the CPU time"),
        (ask(rate_rps=1700), 0.8, 64, "async", "sync does not reach the rate: cores: 2 answer 1,600/s"),
    ],
)
def test_which_model_is_chosen(asked: Ask, factor: float, threads: int, model: str, told: str) -> None:
    chosen, other, why = choose(asked, evidence(factor, threads))
    assert {chosen.model, other.model} == {"sync", "async"}
    assert chosen.model == model
    assert told in why


def test_too_few_connections_are_told_with_the_number_that_is_enough() -> None:
    lacks = there(advise(ask(pool=5), evidence()).chosen.lacks)
    assert lacks.startswith("database connections: 5 answer")
    needed = int(lacks.split("; ")[1].split()[0])
    assert advise(ask(pool=needed), evidence()).chosen.lacks is None
    assert advise(ask(pool=needed - 1), evidence()).chosen.lacks is not None


def test_what_would_change_the_answer_is_found() -> None:
    found = advise(ASK, evidence(1.0, threads=40))
    assert found.chosen.model == "sync"
    told = {change.what: change.then for change in found.changes}
    assert told["twice the wait"].startswith("async")
    assert "half the wait" not in told
    assert advise(ask(pool=30), evidence()).chosen.lacks is None
    told = {change.what: change.then for change in advise(ask(pool=30), evidence()).changes}
    assert "not enough: database connections: 15" in told["half the connections"]


@pytest.mark.parametrize(
    ("found", "level", "told"),
    [
        (
            evidence(1.0, 64, checked(0.05), checked(-0.08)),
            "high",
            "2 predictions from other cells were 6% off",
        ),
        (evidence(1.0, 64, checked(0.2)), "medium", "20% off"),
        (evidence(1.0, 64, checked(0.5)), "low", "50% off"),
        (evidence(1.0, 64, checked(0.02, elsewhere=False)), "medium", "just crossover makes such a record"),
        (evidence(None, 64), "medium", "no record has both models in python"),
        (Evidence(language="cpp", pairs={}, threads_most=0, checked=[]), "low", "no record shows"),
    ],
)
def test_confidence_is_how_far_the_records_were_off(found: Evidence, level: str, told: str) -> None:
    chosen, _, _ = choose(ASK, found)
    word, reasons = confidence(found, chosen)
    assert word == level
    assert told in "; ".join(reasons)


def test_least_is_the_smallest_that_is_enough() -> None:
    assert [least(lambda n, k=k: n >= k, 100) for k in (1, 2, 57, 100, 101)] == [1, 2, 57, 100, None]  # type: ignore[misc]
