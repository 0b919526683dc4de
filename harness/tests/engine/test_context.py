"""tandem.engine.context: what explains the figures of a variant."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from harness_engine import made_trial, trial_spec
from harness_samples import finding, good_window, quiet_roles, role

from tandem.analysis.histogram import encode
from tandem.engine.context import Context, contexts, round_trip
from tandem.facts.estimate import against_first, of_variants
from tandem.facts.metric import GOODPUT
from tandem.record.conclusion import Contrast
from tandem.record.request import Variant
from tandem.record.result import Baselines, CeilingLook
from tandem.record.trial import Trial
from tandem.record.window import DbRtt, Finding, Times, Verdict

ONE = Variant(label="one", implementation="one")


def made(
    number: int = 1, verdict: Verdict = Verdict.OK, findings: Sequence[Finding] = (), **windows: Any
) -> Trial:
    """The n-th fresh start of `one`."""
    trial = made_trial(trial_spec(f"{number}-one", block=number), verdict, **windows)
    trial.findings += findings
    return trial


def context_of(*trials: Trial, needed: int = 1) -> Context:
    [own] = of_variants(trials, [ONE], needed)
    [found] = contexts([own], trials, [*own.standard()], Baselines())
    return found


def limited(index: int, tag: str, verdict: Verdict = Verdict.OK) -> Trial:
    return made(index, verdict, closed=good_window(bottleneck=tag, evidence=[f"{tag} of {index}"]))


def test_the_bottleneck_of_most_good_starts_with_its_evidence() -> None:
    found = context_of(limited(1, "database"), limited(2, "app-cpu"), limited(3, "app-cpu"))
    assert (found.bottleneck, found.evidence) == ("app-cpu", ["app-cpu of 2"])
    void = [limited(1, "unknown", Verdict.VOID), limited(2, "unknown", Verdict.VOID)]
    assert context_of(*void, limited(3, "app-cpu")).bottleneck == "app-cpu"
    assert context_of(*void).evidence == ["unknown of 1"], "where no start is good, the bad ones tell"
    assert context_of(made(closed=None, open=None)).bottleneck is None


def warned(index: int) -> Trial:
    return made(index, open=good_window("open", findings=[finding("warning", "steal", f"steal {index}")]))


def codes(found: Context) -> list[tuple[str, str]]:
    return [(one.code, one.text) for one in found.findings if one.code != "few-samples"]


def test_one_warning_for_each_code() -> None:
    told = codes(context_of(made(1), warned(2), warned(3), warned(4)))
    assert told == [("steal", "2-one: steal 2 (and 2 more like it)")]
    assert codes(context_of(made(1), warned(2))) == [("steal", "2-one: steal 2")]
    assert codes(context_of(made(1))) == []


def test_a_void_start_of_a_variant_that_is_ok_is_told() -> None:
    void = made(2, Verdict.VOID, [finding("void", "steal", "steal 12 %")])
    found = context_of(made(1), void, made(3))
    assert codes(found) == [("steal", "2-one: steal 12 %")]
    assert found.disturbed == 1


@pytest.mark.parametrize("verdict", [Verdict.VOID, Verdict.INVALID, Verdict.FAILED])
def test_a_reason_is_not_told_as_a_warning_too(verdict: Verdict) -> None:
    bad = made(4, verdict, [finding("void" if verdict is Verdict.VOID else "invalid", "code", "the reason")])
    assert codes(context_of(warned(1), bad, needed=2)) == [("steal", "1-one: steal 1")]


def test_percentiles_that_are_left_out_are_told() -> None:
    hdr = encode(np.repeat([0.01], 4000))
    opened = good_window("open", response_time_hdr=hdr, response_time_ms=Times(samples=4000))
    [warning] = context_of(made(open=opened)).findings
    assert warning.code == "few-samples"
    assert warning.text.startswith("p99: not published, 4000 samples")
    wrong = context_of(made(1, Verdict.INVALID, open=opened))
    assert wrong.findings == [], "without figures nothing is left out"


def test_a_host_that_changed_between_good_starts_is_told() -> None:
    """The laboratory's own programs did the same for a request, and it cost more."""

    def at(speed: float, number: int, verdict: Verdict = Verdict.OK) -> Trial:
        window = good_window(roles=quiet_roles(proxy=role(0.3 * speed, "0")))
        assert window.host.hiccup
        window.host.hiccup.cpu_cores = 0.005 * speed
        return made(number, verdict, closed=window)

    assert "host-speed" in dict(codes(context_of(at(1.0, 1), at(1.5, 2))))
    assert "host-speed" not in dict(codes(context_of(at(1.0, 1), at(1.5, 2, Verdict.VOID))))


def test_how_far_the_database_was_is_told_where_it_was_asked_for() -> None:
    def trip(during_p50: float) -> DbRtt:
        return DbRtt(setting=15, before_p50=15.6, during_p50=during_p50, during_p90=19.0, samples=12)

    windows = [good_window(db_rtt_ms=trip(17.0)), good_window("open", db_rtt_ms=trip(16.0))]
    assert round_trip(windows) == (
        "round trip to the database 16.5 ms during the load"
        " (p90 19.0; 15.6 before it; 15 requested; medians of 2 windows)"
    )
    assert round_trip([good_window()]) is None


# ---- within blocks ----

HOST = (1.0, 1.2, 0.8, 1.1, 0.9, 1.3)
"""How fast the host is in each block."""
SHARED = {"db": role(0.52), "pgbouncer": role(0.35), "proxy": role(0.07), "loadgen": role(0.04)}


def in_block(label: str, number: int, goodput: float, roles: Any = None) -> Trial:
    """The fresh start of a variant in a block, limited by its own CPU."""
    own = roles or quiet_roles(app=role(0.97, "4", busiest_thread_cores=0.97))
    closed = good_window(goodput_rps=goodput, roles=own, bottleneck="app-cpu")
    return made_trial(trial_spec(f"{number}-{label}", label, block=number), closed=closed)


def compared(roles: Any = None, ceiling_rps: float | None = None) -> tuple[list[Context], Contrast]:
    """`other` does a tenth more than `first` in each block; the ratio of their rates."""
    trials = [
        in_block(label, n, rate * host, roles)
        for label, rate in (("first", 1000.0), ("other", 1100.0))
        for n, host in enumerate(HOST, 1)
    ]
    reached = enumerate([(ceiling_rps or 0) * host or None for host in HOST], 1)
    looks = [CeilingLook(block=n, goodput_rps=rate) for n, rate in reached]
    found = of_variants(trials, [Variant(label=label, implementation=label) for label in ("first", "other")])
    beside = contexts(found, trials, [], Baselines(looks={"database": looks}))
    why = {one.variant: one.not_ranked for one in beside if one.not_ranked}
    return beside, next(one for one in against_first(found, why) if one.metric == GOODPUT)


def test_a_rate_that_something_shared_limits_has_no_rank() -> None:
    (_, other), rate = compared({**SHARED, "app": role(0.3, "1")})
    assert other.not_ranked == other.limit == "core 0: database 52 %, PgBouncer 35 %, HAProxy 7 %"
    assert (rate.word, rate.not_ranked) == ("not ranked", other.not_ranked)
    (_, tied), _ = compared({**SHARED, "app": role(0.95, "1")})
    assert tied.not_ranked == f"{other.not_ranked}; core 1: application 95 %"


def test_a_rate_near_a_ceiling_of_its_blocks_has_no_rank() -> None:
    (first, other), rate = compared(ceiling_rps=1150)
    assert other.ceiling_shares == {"database": pytest.approx(1100 / 1150, rel=0.001)}
    assert (first.not_ranked, other.not_ranked) == (None, "96 % of the ceiling database")
    assert rate.word == "not ranked"


def test_a_ceiling_that_an_application_passes_cuts_nothing_off() -> None:
    beside, rate = compared(ceiling_rps=1050)
    assert beside[1].ceiling_shares["database"] > 1
    assert [one.not_ranked for one in beside] == [None, None]
    assert rate.word == "faster"
