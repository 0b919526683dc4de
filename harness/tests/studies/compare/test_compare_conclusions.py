"""tandem.studies.compare.conclusions: from windows to verdicts."""

import math
import random
import re

import altair
import pytest
from harness_engine import request, result_of, text
from harness_places import ROOT
from harness_samples import NOW, REQUESTS, finding, good_window, role
from rich.table import Table

from tandem.analysis.cost import APP, TOTAL, at
from tandem.analysis.ratios import compare, detectable_ratio
from tandem.catalog.catalog import EQUAL_SHARES
from tandem.engine.stand_ins import is_look
from tandem.record.result import Baselines, CeilingLook
from tandem.record.trial import Slicing, Start, Trial, TrialSpec, WarmUp, WindowRecord, WindowSpec
from tandem.record.window import Role, Times, Verdict, Window
from tandem.report.markdown import of_result
from tandem.studies.compare import conclusions, report
from tandem.studies.compare.conclusions import METRICS, P99, round_of, second, turn_name
from tandem.studies.compare.pictures import pictures
from tandem.studies.registry import read_folder

GOODPUT = METRICS["goodput_rps"]


def make_record(number: int, label: str, window: Window) -> WindowRecord:
    spec = WindowSpec(
        name=turn_name(number, label), variants=[label], seconds=4, trim_start_s=0.5, trim_end_s=0.25
    )
    return WindowRecord(spec=spec, windows={label: window})


def make_blocks(effect: float = 1.0, blocks: int = 8, noise: float = 0.01, seed: int = 1) -> list[Trial]:
    """Blocks of A, A~2 and B; every block is as fast as it likes, B is `effect` times as fast and half as dear."""
    chance = random.Random(seed)
    out = []
    for number in range(1, blocks + 1):
        host = chance.uniform(500, 1500)
        records = [
            make_record(
                n,
                name,
                good_window(
                    goodput_rps=host * factor * math.exp(chance.gauss(0, noise)),
                    app_cpu_us_per_request=200 / factor * math.exp(chance.gauss(0, noise)),
                ),
            )
            for n in (1, 2, 3, 4)
            for name, factor in (("A", 1.0), ("A~2", 1.0), ("B", effect))
        ]
        labels = ["A", "A~2", "B"]
        spec = TrialSpec(
            name=f"block-{number}", block=number, variants=labels, warm_up=WarmUp(least_s=5, cap_s=5)
        )
        starts = {label: Start() for label in labels}
        out.append(Trial(spec=spec, started_at=NOW, verdict=Verdict.OK, starts=starts, windows=records))
    return out


def records_of(blocks: list[Trial], variant: str) -> list[WindowRecord]:
    return [record for block in blocks for record in block.windows if variant in record.windows]


def windows_of(blocks: list[Trial], variant: str) -> list[Window]:
    return [record.windows[variant] for record in records_of(blocks, variant)]


def spoil(blocks: list[Trial], variant: str, severity: str, times: int) -> None:
    """The first windows of a variant get another verdict."""
    for window in windows_of(blocks, variant)[:times]:
        window.verdict = Verdict(severity)
        window.findings = [finding("void" if severity == "void" else "invalid", text="on purpose")]


def test_a_host_that_is_twice_as_fast_in_another_block_does_not_disturb() -> None:
    found = conclusions.against_reference(make_blocks(effect=1.10), "A", ["B"])["B"]
    assert found["goodput_rps"].ratio.ratio == pytest.approx(1.10, rel=0.01)
    assert found["goodput_rps"].verdict == "faster"
    assert found["app_cpu_us_per_request"].verdict == "cheaper"
    slower = conclusions.against_reference(make_blocks(effect=0.9), "A", ["B"])["B"]
    assert slower["goodput_rps"].verdict == "slower"


def test_the_same_program_is_equivalent_and_few_blocks_decide_nothing() -> None:
    assert conclusions.same(make_blocks(), "A")["goodput_rps"].verdict == "equivalent"
    few = conclusions.against_reference(make_blocks(effect=1.2, blocks=4), "A", ["B"])["B"]["goodput_rps"]
    assert few.verdict == "inconclusive"


def test_the_primary_metric_has_its_own_five_percent() -> None:
    blocks = make_blocks(effect=1.10)
    found = conclusions.against_reference(blocks, "A", ["B"], "app_cpu_us_per_request")["B"]
    alone, other = found["app_cpu_us_per_request"], found["goodput_rps"]
    assert alone.p_adjusted == alone.ratio.p_t, "one variant, one metric: nothing to correct"
    # There was neither a duet nor an equal rate, so goodput and the total cost are the others that were tested.
    assert other.p_adjusted == pytest.approx(2 * (other.ratio.p_t or 0))
    more = make_blocks(effect=1.10)
    for block in more:
        for record in list(block.windows):
            if "B" in record.windows:
                twin = record.model_copy(deep=True)
                twin.spec.variants, twin.windows = ["C"], {"C": twin.windows["B"]}
                block.windows.append(twin)
    both = conclusions.against_reference(more, "A", ["B", "C"], "goodput_rps")
    for variant in ("B", "C"):
        one = both[variant]["app_cpu_us_per_request"]
        assert one.p_adjusted == pytest.approx(4 * (one.ratio.p_t or 0)), "Holm over variants x metrics"
    assert list(both["B"]) == list(METRICS)


def table_of(metric: str, effect: float, noise: float, blocks: int = 8) -> str:
    """The row of B in the terminal's table."""
    found = conclusions.conclude(
        make_blocks(effect, blocks, noise), ["A", "B"], Baselines(), primary="goodput_rps"
    )
    rows = report.rows(result_of(request("A", "B"), found), metric)
    return next(row for row in rows if row[0] == "B")[3]


def test_a_verdict_says_direction_and_size() -> None:
    assert re.fullmatch(r"faster by 9\.\d % \(\d+\.\d to 1\d\.\d\)", table_of("goodput_rps", 1.10, 0.01))
    assert re.fullmatch(
        r"cheaper by 9\.\d % \([89]\.\d to 9\.\d\)", table_of("app_cpu_us_per_request", 1.10, 0.01)
    ), "the smaller size comes first, whatever the direction"
    within = table_of("app_cpu_us_per_request", 1 / 1.018, 0.004)
    assert re.fullmatch(r"dearer by 1\.\d % \(1\.\d to [12]\.\d\), within the margin of 3 %", within)
    assert re.fullmatch(
        r"equivalent: [+−]0\.\d % \(−\d\.\d to \+\d\.\d\), within the margin of 3 %",
        table_of("goodput_rps", 1.0, 0.01),
    )
    assert re.fullmatch(
        r"inconclusive: [+−]\d+\.\d % \(−\d+\.\d to \+\d+\.\d\)", table_of("goodput_rps", 1.0, 0.2)
    )
    assert table_of("goodput_rps", 1.1, 0.01, blocks=1) == "too few"


@pytest.mark.parametrize(
    ("limits", "primary", "word"),
    [
        ({"A": "app-cpu", "B": "app-cpu"}, "app_cpu_us_per_request", "faster by"),
        ({"A": "app-cpu", "B": "pool-wait"}, "app_cpu_us_per_request", "faster by"),
        ({"A": "app-cpu", "B": "database"}, "app_cpu_us_per_request", "not ranked"),
        ({"A": "database+app-cpu", "B": "app-cpu"}, "app_cpu_us_per_request", "not ranked"),
        ({"A": "database", "B": "database"}, "goodput_rps", "faster by"),
    ],
)
def test_a_goodput_that_something_shared_limits_is_not_ranked(
    limits: dict[str, str], primary: str, word: str
) -> None:
    blocks = make_blocks(effect=1.1)
    for label, limit in limits.items():
        for window in windows_of(blocks, label):
            window.bottleneck = limit
    found = result_of(
        request("A", "B"), conclusions.conclude(blocks, ["A", "B"], Baselines(), primary=primary)
    )
    told = {
        metric: next(row for row in report.rows(found, metric) if row[0] == "B")[3]
        for metric in ("goodput_rps", "app_cpu_us_per_request")
    }
    assert told["goodput_rps"].startswith(word)
    of_page = conclusions.word(found.conclusions, found.conclusions.entries[1], "goodput_rps")
    assert of_page == word.removesuffix(" by"), "the page says the same"
    assert told["app_cpu_us_per_request"].startswith("cheaper by"), (
        "what a request costs is the program's own"
    )


def test_an_older_record_that_called_a_difference_equivalent_says_both() -> None:
    old = conclusions.ComparedRatio.model_validate(
        {
            "ratio": {
                "ratio": 1.018,
                "interval": [1.013, 1.023],
                "n": 6,
                "sd_ln": 0.005,
                "p_t": 0.0002,
                "p_sign_flip": 0.03,
                "p_equivalent": 0.001,
                "detectable_ratio": 1.007,
            },
            "p_adjusted": 0.0003,
            "verdict": "equivalent",
        }
    )
    assert report.told(old, "lower") == "dearer by 1.8 % (1.3 to 2.3), within the margin of 3 %"
    assert report.told(old.model_copy(update={"p_adjusted": 0.4}), "lower").startswith("equivalent: +1.8 %")


def test_from_twice_on_a_difference_is_told_as_a_factor() -> None:
    ratio = compare([math.log(28.47)] * 6).model_copy(update={"ratio": 28.47, "interval": (25.9, 31.3)})
    found = conclusions.ComparedRatio(ratio=ratio, p_adjusted=0.001, verdict="dearer")
    assert report.told(found, "lower") == "dearer: × 28.47 (25.90 to 31.30)"
    nearly = found.model_copy(
        update={"ratio": ratio.model_copy(update={"ratio": 1.99, "interval": (1.9, 2.1)})}
    )
    assert report.told(nearly, "lower") == "dearer by 99.0 % (90.0 to 110.0)"


def test_blocks_that_were_void_are_counted_for_each_variant() -> None:
    blocks = make_blocks()
    again = blocks[2].model_copy(deep=True)
    again.spec = again.spec.again()
    spoil([blocks[2]], "B", "void", 2)
    spoil([blocks[5]], "B", "void", 1)
    found = conclusions.conclude([*blocks, again], ["A", "B"], Baselines(), primary="goodput_rps")
    assert [line.void_blocks for line in found.conclusions.entries] == [0, 2]
    [row] = [row for row in report.rows(result_of(request("A", "B"), found), "goodput_rps") if row[0] == "B"]
    assert row[6] == "8, 2 void"


@pytest.mark.parametrize("primary", [None, "goodput_rps"])
def test_the_smallest_difference_is_that_of_the_verdict(primary: str | None) -> None:
    found = conclusions.against_reference(make_blocks(noise=0.05), "A", ["B"], primary)["B"][
        "goodput_rps"
    ].ratio
    assert found.detectable_ratio == detectable_ratio(found.sd_ln or 0, 8)
    few = conclusions.against_reference(make_blocks(blocks=5), "A", ["B"], primary)["B"]["goodput_rps"].ratio
    assert few.detectable_ratio is None, "five blocks find nothing"


def test_void_windows_leave_their_round_out_on_both_sides() -> None:
    blocks = make_blocks(blocks=1, noise=0.0, effect=1.5)
    wild = windows_of(blocks, "B")[1]
    wild.goodput_rps = 1.0
    assert conclusions.ln_ratios(blocks, "B", ["A", "A~2"], GOODPUT)[0] < 0  # negative control: it counts
    wild.verdict = Verdict.VOID
    assert conclusions.ln_ratios(blocks, "B", ["A", "A~2"], GOODPUT)[0] == pytest.approx(math.log(1.5))


def test_a_window_that_an_older_tandem_made_again_is_of_the_same_round() -> None:
    blocks = make_blocks(blocks=1, noise=0.0, effect=1.5)
    first = records_of(blocks, "B")[0]
    again = first.model_copy(deep=True)
    again.spec.name += ".2"
    first.windows["B"].verdict, first.windows["B"].goodput_rps = Verdict.VOID, 1.0
    blocks[0].windows.append(again)
    assert len(conclusions.values(blocks[0], "B", GOODPUT)) == 4
    assert [round_of(record) for record in (first, again)] == [1, 1]


@pytest.mark.parametrize(("name", "number"), [("duet", 1), ("duet-2", 2), (turn_name(12, "a-3:B=4"), 12)])
def test_a_round_is_told_by_the_windows_name(name: str, number: int) -> None:
    record = make_record(1, "A", good_window())
    record.spec.name = name
    assert round_of(record) == number
    assert conclusions.kind(record) == ("duet" if name.startswith("duet") else "turns")


def test_the_duet_tells_its_own_cost_and_no_other() -> None:
    [block] = make_blocks(blocks=1, noise=0.0)
    both = {"A": good_window("open", app_cpu_us_per_request=500.0), "B": good_window("open")}
    spec = block.windows[0].spec.model_copy(update={"name": "duet", "variants": ["A", "B"], "load": "open"})
    block.windows.append(WindowRecord(spec=spec, windows=both))
    assert conclusions.values(block, "A", METRICS["duet_cpu_us_per_request"]) == {1: 500.0}
    assert conclusions.values(block, "A", METRICS["app_cpu_us_per_request"])[1] == pytest.approx(200)


def test_a_block_that_was_made_again_counts_once() -> None:
    blocks = make_blocks(effect=1.1)
    again = blocks[2].model_copy(deep=True)
    again.spec = again.spec.again()
    spoil([blocks[2]], "B", "void", 4)
    found = conclusions.conclude([*blocks, again], ["A", "B"], Baselines())
    assert found.conclusions.blocks == 8
    assert found.conclusions.entries[1].against_reference["goodput_rps"].ratio.n == 8
    assert [one.text for one in found.findings] == ["B: block-3: on purpose (and 3 more like it)"]
    alone = conclusions.conclude(blocks, ["A", "B"], Baselines())
    assert alone.conclusions.entries[1].against_reference["goodput_rps"].ratio.n == 7
    # A wrong answer is not made good by another try.
    spoil([blocks[2]], "B", "invalid", 1)
    assert conclusions.conclude([*blocks, again], ["A", "B"], Baselines()).verdict is Verdict.INVALID


def test_one_invalid_window_makes_the_variant_invalid_and_its_figures_null() -> None:
    blocks = make_blocks()
    compared = conclusions.against_reference(blocks, "A", ["B"])["B"]
    assert conclusions.entry(blocks, "B", compared).verdict is Verdict.OK
    spoil(blocks, "B", "invalid", 1)
    line = conclusions.entry(blocks, "B", compared)
    assert (line.verdict, line.reasons, line.against_reference) == (Verdict.INVALID, ["on purpose"], {})
    assert set(line.means.values()) == {None}
    found = conclusions.conclude(blocks, ["A", "B"], Baselines())
    assert (found.verdict, found.reasons) == (Verdict.INVALID, ["B: on purpose"])
    assert found.conclusions.session is Verdict.OK, "the others may be believed"


def test_a_variant_that_does_not_start_is_failed() -> None:
    blocks = make_blocks()
    blocks[2].starts["B"].refused = "did not start"
    assert conclusions.entry(blocks, "B", {}).reasons == ["block 3: did not start"]
    assert conclusions.entry(blocks, "B", {}).verdict is Verdict.FAILED
    assert conclusions.conclude(blocks, ["A", "B"], Baselines()).verdict is Verdict.FAILED


def test_a_window_that_breaks_fails_its_variant_alone() -> None:
    blocks = make_blocks()
    record = records_of(blocks, "B")[0]
    record.windows, record.refused = {}, "the window broke"
    found = conclusions.conclude(blocks, ["A", "B"], Baselines()).conclusions
    assert [line.verdict for line in found.entries] == [Verdict.OK, Verdict.FAILED]
    assert found.entries[1].reasons == ["the window broke"]


@pytest.mark.parametrize(("times", "verdict"), [(0, Verdict.OK), (15, Verdict.OK), (25, Verdict.VOID)])
def test_too_many_void_windows_void_the_session(times: int, verdict: Verdict) -> None:
    blocks = make_blocks()
    spoil(blocks, "B", "void", times)
    reference = conclusions.entry(blocks, "A", {})
    assert conclusions.session_verdict(blocks, reference, conclusions.same(blocks, "A"))[0] is verdict


def test_a_reference_that_fails_or_differs_from_itself_voids_the_session() -> None:
    blocks = make_blocks()
    reference = conclusions.entry(blocks, "A", {})
    assert conclusions.session_verdict(blocks, reference, conclusions.same(blocks, "A"))[0] is Verdict.OK
    for window in windows_of(blocks, second("A")):
        window.goodput_rps *= 1.08
    verdict, reasons = conclusions.session_verdict(blocks, reference, conclusions.same(blocks, "A"))
    assert verdict is Verdict.VOID
    assert "differs from itself in goodput_rps" in reasons[0]
    spoil(blocks, "A", "invalid", 1)
    assert conclusions.session_verdict(blocks, conclusions.entry(blocks, "A", {}), {})[0] is Verdict.VOID


def test_a_reference_that_differs_from_itself_blanks_that_metric_alone() -> None:
    blocks = make_blocks()
    for window in windows_of(blocks, second("A")):
        window.goodput_rps *= 1.08
    found = conclusions.conclude(blocks, ["A", "B"], Baselines(), primary="app_cpu_us_per_request")
    told = found.conclusions.entries[1]
    assert found.verdict is Verdict.OK
    assert told.means["goodput_rps"] is None
    assert "goodput_rps" not in told.against_reference
    assert told.means["app_cpu_us_per_request"] is not None
    assert told.against_reference["app_cpu_us_per_request"].ratio.ratio is not None
    assert [(one.code, one.severity) for one in found.findings] == [("unlike-itself", "warning")]
    assert "goodput_rps" in found.findings[0].text
    # The metric that was asked for is the session's.
    asked = conclusions.conclude(blocks, ["A", "B"], Baselines(), primary="goodput_rps")
    assert asked.verdict is Verdict.VOID
    assert set(asked.conclusions.entries[1].means.values()) == {None}


def test_a_visit_that_broke_fails_the_session() -> None:
    blocks = make_blocks()
    blocks[0].findings.append(finding("invalid", "failed", "the disk is full"))
    found = conclusions.conclude(blocks, ["A", "B"], Baselines())
    assert (found.verdict, found.reasons) == (Verdict.FAILED, ["block 1: the disk is full"])
    assert set(found.conclusions.entries[1].means.values()) == {None}


def looks(rates: list[float | None]) -> Baselines:
    """One look at a ceiling in each block."""
    found = [CeilingLook(block=number, goodput_rps=rate) for number, rate in enumerate(rates, start=1)]
    return Baselines(ceilings_rps={"database": 1.0}, looks={"database": found})


def test_a_goodput_near_a_ceiling_of_its_blocks_has_no_rank() -> None:
    blocks = make_blocks(effect=2.0, noise=0.0)
    rate = conclusions.entry(blocks, "A", {}).means["goodput_rps"]
    assert rate is not None
    own = [
        2.1 * found
        for block in blocks
        for found in conclusions.values(block, "A", METRICS["goodput_rps"]).values()
    ]
    each = own[:: len(own) // len(blocks)]
    found = conclusions.conclude(blocks, ["A", "B"], looks([*each])).conclusions.entries
    assert [line.censored for line in found] == [False, True]
    assert (found[0].near_ceiling, found[1].near_ceiling) == (None, "95 % of the ceiling database")
    assert found[1].ceiling_shares["database"] == pytest.approx(2 / 2.1, rel=0.01)
    # One that a variant passes cuts nothing off; a look that the host disturbed is left out.
    low: list[float | None] = [one * 0.9 for one in each]
    none: list[float | None] = [None] * len(each)
    for rates in (low, none):
        lines = conclusions.conclude(blocks, ["A", "B"], looks(rates)).conclusions.entries
        assert [line.censored for line in lines] == [False, False]
    assert conclusions.conclude(blocks, ["A", "B"], Baselines()).conclusions.entries[1].ceiling_shares == {}


def test_an_older_record_has_one_look_before_all_blocks() -> None:
    blocks = make_blocks(effect=2.0, noise=0.0)
    rate = conclusions.entry(blocks, "A", {}).means["goodput_rps"]
    assert rate is not None
    old = Baselines(ceilings_rps={"proxy": rate * 2.1, "null": None})
    found = conclusions.conclude(blocks, ["A", "B"], old)
    assert [line.censored for line in found.conclusions.entries] == [False, True]
    passed = Baselines(ceilings_rps={"proxy": rate * 1.9, "null": None})
    found = conclusions.conclude(blocks, ["A", "B"], passed)
    assert [line.censored for line in found.conclusions.entries] == [False, False]


@pytest.mark.parametrize("spoilt", ["A", "A~2"])
def test_a_void_session_publishes_no_figure(spoilt: str) -> None:
    blocks = make_blocks(effect=1.2)
    good = conclusions.conclude(blocks, ["A", "B"], Baselines())
    told = good.conclusions.entries[1].against_reference["goodput_rps"]
    assert told.verdict == "faster"  # the control
    spoil(blocks, spoilt, "invalid", 1)
    found = conclusions.conclude(blocks, ["A", "B"], Baselines())
    assert found.verdict is found.conclusions.session is Verdict.VOID
    assert spoilt in found.reasons[0]
    assert [set(line.means.values()) for line in found.conclusions.entries] == [{None}, {None}]
    assert [line.against_reference for line in found.conclusions.entries] == [{}, {}]


def test_what_a_warm_up_and_an_end_say_is_told_once_for_each_variant() -> None:
    blocks = make_blocks()
    for block in blocks[:3]:
        block.starts["B"].findings.append(finding("warning", "no-steady-state", "not steady"))
    blocks[0].starts["A"].findings.append(finding("warning", "unclean-stop", "killed"))
    found = conclusions.conclude(blocks, ["A", "B"], Baselines())
    assert found.verdict is Verdict.OK
    assert {(one.code, one.text) for one in found.findings} == {
        ("no-steady-state", "B: block-1: not steady (and 2 more like it)"),
        ("unclean-stop", "A: block-1: killed"),
    }


# ---- in slices ----


def add_slices(block: Trial, **goodputs_rps: float) -> None:
    """The block's window in slices."""
    windows = {name.replace("_2", "~2"): good_window(goodput_rps=rate) for name, rate in goodputs_rps.items()}
    spec = WindowSpec(
        name="slices",
        variants=list(windows),
        seconds=15,
        trim_start_s=0,
        trim_end_s=0,
        slices=Slicing(slice_s=1.0, seed=1),
    )
    block.windows.append(WindowRecord(spec=spec, windows=windows))


def test_the_window_in_slices_tells_and_the_ones_alone_do_not() -> None:
    blocks = make_blocks(blocks=1, noise=0.0, effect=1.5)
    assert conclusions.ln_ratios(blocks, "B", ["A", "A~2"], GOODPUT)[0] == pytest.approx(math.log(1.5))
    add_slices(blocks[0], A=1000.0, A_2=1000.0, B=1100.0)
    assert conclusions.ln_ratios(blocks, "B", ["A", "A~2"], GOODPUT)[0] == pytest.approx(math.log(1.1))
    assert conclusions.same(blocks, "A")["goodput_rps"].ratio.ratio == pytest.approx(1)
    assert conclusions.entry(blocks, "B", {}).means["goodput_rps"] == pytest.approx(1100)


def test_who_took_turns_is_compared_in_turns_and_marked() -> None:
    blocks = make_blocks(effect=1.5, noise=0.001)
    for block in blocks:
        add_slices(block, A=900.0, A_2=900.0)
    found = conclusions.conclude(blocks, ["A", "B"], Baselines(), {"B": "it keeps no connection"}).conclusions
    ratio = found.entries[1].against_reference["goodput_rps"].ratio
    assert ratio.ratio == pytest.approx(1.5, rel=0.01)
    assert [line.in_turns for line in found.entries] == [None, "it keeps no connection"]
    assert found.entries[0].means["goodput_rps"] == pytest.approx(900)


def test_the_two_duets_tell_two_costs_and_a_late_request_near_the_limit_is_no_fault() -> None:
    blocks = make_blocks(blocks=1, noise=0.0)
    for name, cost in (("duet", 500.0), ("saturated", 300.0)):
        spec = WindowSpec(name=name, variants=["A"], seconds=3, load="open", trim_start_s=0, trim_end_s=0)
        window = good_window("open", app_cpu_us_per_request=cost)
        blocks[0].windows.append(WindowRecord(spec=spec, windows={"A": window}))
    told = {name: conclusions.values(blocks[0], "A", METRICS[name]) for name in METRICS}
    assert told["duet_cpu_us_per_request"] == {1: 500.0}
    assert told["saturated_cpu_us_per_request"] == {1: 300.0}
    for code, verdict in (("incomplete", Verdict.OK), ("wrong-length", Verdict.INVALID)):
        near = blocks[0].windows[-1].windows["A"]
        near.verdict, near.findings = Verdict.INVALID, [finding("invalid", code)]
        assert not conclusions.values(blocks[0], "A", METRICS["saturated_cpu_us_per_request"])
        assert conclusions.entry(blocks, "A", {}).verdict is verdict


def test_a_replay_compares_what_slices_tell() -> None:
    [block] = make_blocks(blocks=1, noise=0.0)
    assert len(block.of("A", "closed")) == 4
    add_slices(block, A=900.0, B=800.0)
    assert [window.goodput_rps for window in block.of("A", "closed")] == [900.0]
    assert [window.goodput_rps for window in block.of("B", "closed")] == [800.0]
    assert len(block.of("A~2", "closed")) == 4, "it was measured in turn"


# ---- the control ----


def off_by(shift: float, effect: float = 1.0, noise: float = 0.004) -> list[Trial]:
    """Blocks in which the baseline's second start costs so many times as much per request."""
    blocks = make_blocks(effect, noise=noise)
    for window in windows_of(blocks, second("A")):
        assert window.app_cpu_us_per_request is not None
        window.app_cpu_us_per_request *= shift
    return blocks


def text_of(blocks: list[Trial]) -> str:
    found = conclusions.conclude(blocks, ["A", "B"], Baselines(), primary="app_cpu_us_per_request")
    return text(report.report(result_of(request("A", "B"), found)))


def test_a_failed_control_speaks_first_and_widens() -> None:
    """1.4 %, far below the margin that voids a session."""
    found = conclusions.conclude(off_by(1.014), ["A", "B"], Baselines(), primary="app_cpu_us_per_request")
    assert found.verdict is Verdict.OK
    control = found.conclusions.control
    assert control is not None
    assert (control.verdict, set(control.differing)) == ("failed", {TOTAL, APP})
    assert control.widened_ln["app_cpu_us_per_request"] == pytest.approx(math.log(1.014), abs=0.003)
    told = text_of(off_by(1.014))
    assert (
        "The control failed: the baseline differs from itself: total CPU, alone and at full load × 1.01"
        in told
    )
    assert told.index("The control failed") < told.index("smallest difference")
    result = result_of(request("A", "B"), found)
    assert of_result(report.report(result), result).startswith("**The control failed")
    assert report.headline(found.conclusions.model_dump(mode="json")).endswith("; the control failed")


def test_a_control_that_passes_says_nothing() -> None:
    found = conclusions.conclude(off_by(1.0), ["A", "B"], Baselines(), primary="app_cpu_us_per_request")
    assert found.conclusions.control is not None
    assert found.conclusions.control.verdict == "passed"
    assert "control" not in text_of(off_by(1.0)).lower()
    assert "control" not in report.headline(found.conclusions.model_dump(mode="json"))


def test_a_small_difference_is_none_beside_a_failed_control() -> None:
    def word(shift: float) -> str:
        found = conclusions.conclude(
            off_by(shift, 1 / 1.012), ["A", "B"], Baselines(), primary="app_cpu_us_per_request"
        )
        return found.conclusions.entries[1].against_reference["app_cpu_us_per_request"].verdict

    assert word(1.0) == "dearer"
    assert word(1.018) in ("inconclusive", "equivalent"), "the baseline's own difference is as large"


def test_beyond_the_margin_the_session_is_void_as_before() -> None:
    found = conclusions.conclude(off_by(1.05), ["A", "B"], Baselines(), primary="app_cpu_us_per_request")
    assert found.verdict is Verdict.VOID
    assert found.conclusions.control is not None
    assert found.conclusions.control.verdict == "failed"


# ---- the cost of all roles, and at equal rates ----


def equal_record(share: float, label: str, counts: bool = True, **changes: object) -> WindowRecord:
    """A variant's window at an equal rate."""
    spec = WindowSpec(
        name=f"{label} at {share}",
        variants=[label],
        seconds=6,
        load="open",
        equal_share=share,
        counts=counts,
        trim_start_s=1,
        trim_end_s=0.5,
    )
    return WindowRecord(spec=spec, windows={label: good_window("open", **changes)})


def roles_of(database: float) -> dict[str, Role]:
    """The application uses half a core, the others together as much as the database."""
    nothing = role(0.0)
    return {
        "app": role(0.5),
        "db": role(database),
        "pgbouncer": nothing,
        "proxy": nothing,
        "loadgen": role(0.9),
    }


def at_rates(cheaper_where: float = 2.0, blocks: int = 8) -> list[Trial]:
    """Blocks in which B's own part costs twice as much as A's, and the database less for it; from the share
    `cheaper_where` on B's own part is as cheap as A's."""
    chance = random.Random(3)
    out = make_blocks(blocks=blocks)
    for block in out:
        for share in EQUAL_SHARES:
            for label in ("A", "A~2", "B"):
                dear = label == "B" and share < cheaper_where
                block.windows.append(
                    equal_record(
                        share,
                        label,
                        offered_rps=1000 * share,
                        app_cpu_us_per_request=(200.0 if dear else 100.0) * math.exp(chance.gauss(0, 0.005)),
                        roles=roles_of(0.25 if dear else 1.0),
                        response_time_ms=Times(samples=REQUESTS, p99=(21.0 if dear else 10.0)),
                    )
                )
    return out


def test_the_total_is_of_all_roles_and_not_of_the_generator() -> None:
    found = conclusions.against_reference(at_rates(), "A", ["B"], at(TOTAL, 0.6))["B"]
    own, whole = found[at(APP, 0.6)], found[at(TOTAL, 0.6)]
    assert own.ratio.ratio == pytest.approx(2.0, rel=0.01)
    assert whole.ratio.ratio == pytest.approx(1.0, rel=0.01), "200 + 100 µs against 100 + 200 µs"
    assert (own.verdict, whole.verdict) == ("dearer", "equivalent")
    # At saturation both are of the windows in turn.
    assert found[TOTAL].ratio.ratio == pytest.approx(found[APP].ratio.ratio or 0)


def test_each_rate_tells_its_own_cost_and_no_other() -> None:
    blocks = at_rates(cheaper_where=0.6)
    found = conclusions.against_reference(blocks, "A", ["B"], at(TOTAL, 0.6))["B"]
    told = [found[at(APP, share)].ratio.ratio for share in EQUAL_SHARES]
    assert told == pytest.approx([2.0, 2.0, 1.0, 1.0], rel=0.01)
    assert {len(conclusions.values(blocks[0], "B", METRICS[at(TOTAL, share)])) for share in EQUAL_SHARES} == {
        1
    }
    assert len(conclusions.values(blocks[0], "B", METRICS[APP])) == 4, (
        "the windows in turn are left as they were"
    )
    none = conclusions.against_reference(make_blocks(), "A", ["B"], "goodput_rps")["B"]
    assert {none[at(TOTAL, share)].ratio.ratio for share in EQUAL_SHARES} == {None}, "the negative control"


def test_a_share_is_read_from_the_spec_and_never_from_a_name() -> None:
    record = equal_record(0.3, "A")
    record.spec.name = "duet-60"
    assert conclusions.kind(record) == "equal"
    blocks = make_blocks(blocks=1)
    blocks[0].windows.append(record)
    assert conclusions.values(blocks[0], "A", METRICS[at(APP, 0.3)])
    assert not conclusions.values(blocks[0], "A", METRICS[at(APP, 0.6)])


def test_a_late_tail_is_slower_and_one_of_few_requests_is_null() -> None:
    blocks = at_rates()
    tail = conclusions.against_reference(blocks, "A", ["B"], at(TOTAL, 0.6))["B"][at(P99, 0.8)]
    assert tail.ratio.ratio == pytest.approx(2.1)
    assert tail.verdict == "slower"
    assert report.told(tail, METRICS[at(P99, 0.8)].better).startswith("slower: × 2.10")
    assert at(P99, 0.3) not in METRICS
    for block in blocks:
        for record in block.windows:
            if record.spec.equal_share == 0.6:
                for window in record.windows.values():
                    window.response_time_ms = Times(samples=900, p50=4.0)
    found = conclusions.conclude(blocks, ["A", "B"], Baselines(), primary=at(TOTAL, 0.6)).conclusions
    assert found.entries[1].means[at(P99, 0.6)] is None
    assert found.entries[1].against_reference[at(P99, 0.6)].verdict == "too few"
    assert found.entries[1].means[at(P99, 0.8)] == 21.0


def test_the_tails_are_a_family_of_their_own() -> None:
    primary, tails, rest = conclusions.families(at(TOTAL, 0.6))
    assert (primary, tails) == ([at(TOTAL, 0.6)], [at(P99, 0.6), at(P99, 0.8)])
    assert sorted([*primary, *tails, *rest]) == sorted(METRICS)
    blocks = at_rates()
    chance = random.Random(4)
    for block in blocks:
        for record in block.windows:
            for window in record.windows.values():
                if window.response_time_ms and window.response_time_ms.p99:
                    window.response_time_ms.p99 *= math.exp(chance.gauss(0, 0.3))
    found = conclusions.against_reference(blocks, "A", ["B"], at(TOTAL, 0.6))["B"]
    both = sorted(found[name].ratio.p_t or 0 for name in tails)
    assert min(found[name].p_adjusted or 0 for name in tails) == pytest.approx(2 * both[0])


@pytest.mark.parametrize(
    ("counts", "code", "verdict"),
    [
        (False, "incomplete", Verdict.OK),
        (False, "wrong-body", Verdict.INVALID),
        (True, "incomplete", Verdict.INVALID),
    ],
)
def test_late_near_the_limit_is_no_fault(counts: bool, code: str, verdict: Verdict) -> None:
    blocks = at_rates()
    bad = {"verdict": Verdict.INVALID, "findings": [finding("invalid", code)]}
    blocks[0].windows.append(equal_record(0.8, "B", counts, **bad))
    assert conclusions.entry(blocks, "B", {}).verdict is verdict


def test_the_curve_has_a_point_at_each_rate_and_one_at_full_load() -> None:
    found = conclusions.conclude(at_rates(), ["A", "B"], Baselines(), primary=at(TOTAL, 0.6)).conclusions
    [a, b] = [line.costs for line in found.entries]
    assert [point.share for point in a] == [0.1, 0.3, 0.6, 0.8, None]
    assert [point.rate_rps for point in b[:4]] == pytest.approx([100, 300, 600, 800])
    assert a[2].total_us == pytest.approx(300, rel=0.02)
    assert a[2].by_role_us == pytest.approx(
        {"app": 100, "db": 200, "pgbouncer": 0, "proxy": 0}, rel=0.02, abs=0.1
    )
    assert a[2].total_interval is not None
    assert a[2].total_interval[0] < 300 < a[2].total_interval[1]
    assert (b[0].p99_ms, b[4].p99_ms, a[0].blocks) == (21.0, None, 8)
    assert found.entries[0].means[TOTAL] == pytest.approx(a[4].total_us, rel=1e-6)


def test_what_is_not_published_is_in_no_curve() -> None:
    blocks = at_rates()
    for block in blocks:
        for record in block.windows:
            if record.spec.equal_share == 0.3 and "A~2" in record.windows:
                record.windows["A~2"].app_cpu_us_per_request = 150.0
    found = conclusions.conclude(blocks, ["A", "B"], Baselines(), primary=at(TOTAL, 0.6)).conclusions
    assert [point.share for point in found.entries[1].costs] == [0.1, 0.6, 0.8, None]
    spoil(blocks, "A", "invalid", 1)
    void = conclusions.conclude(blocks, ["A", "B"], Baselines(), primary=at(TOTAL, 0.6)).conclusions
    assert [line.costs for line in void.entries] == [[], []]


def test_the_report_shows_the_deciding_table_first_and_one_for_all_rates() -> None:
    concluded = conclusions.conclude(at_rates(), ["A", "B"], Baselines(), primary=at(TOTAL, 0.6))
    found = result_of(request("A", "B"), concluded)
    titles = [str(one.title) for one in report.tables(found) if isinstance(one, Table)]
    assert [title.partition(":")[0].partition(",")[0] for title in titles] == [
        "total CPU",
        "total CPU at equal rates",
        "app CPU at equal rates",
        "response time p99 at equal rates",
        "CPU of each role at full load",
        "total CPU",
        "app CPU",
        "goodput",
    ]
    assert "alone at 60 % of what the slowest reaches" in titles[0]
    assert "the primary metric" in titles[0]
    told = of_result(report.report(found), found)
    assert "| variant | 10 %, 100/s | 30 %, 300/s | 60 %, 600/s | 80 %, 800/s | full load |" in told
    assert re.search(r"\| B \| 30\d; × 1\.00 \(", told)
    assert re.search(r"\| B \| 21\.0; slower: × 2\.10", told)
    assert re.search(r"\| B \| [\d,]+ \| [\d,]+ \| [\d,]+ \| [\d,]+ \| [\d,]+ \|", told), "the roles"
    assert "the offered rate" in next(line for line in told.splitlines() if line.startswith("| B |"))
    without = conclusions.conclude(make_blocks(), ["A", "B"], Baselines(), primary="goodput_rps")
    assert "at equal rates" not in text(report.report(result_of(request("A", "B"), without))), (
        "negative control"
    )


def test_the_curve_is_drawn_with_its_intervals() -> None:
    concluded = conclusions.conclude(at_rates(), ["A", "B"], Baselines(), primary=at(TOTAL, 0.6))
    [drawn] = pictures(result_of(request("A", "B"), concluded))
    altair.Chart.from_dict(drawn.spec, validate=True)
    rows = drawn.spec["data"]["values"]
    assert len(rows) == 2 * 2 * 5
    assert {row["cost"] for row in rows} == {"all roles", "application"}
    [at_60] = [
        row for row in rows if (row["variant"], row["share"], row["cost"]) == ("B", 0.6, "application")
    ]
    assert (at_60["rate_rps"], at_60["us_per_request"]) == (600, pytest.approx(200, rel=0.01))
    assert at_60["low"] < at_60["us_per_request"] < at_60["high"]
    assert [row["variant"] for row in rows if row["_last"]] == ["A", "B"]
    without = conclusions.conclude(make_blocks(), ["A", "B"], Baselines(), primary="goodput_rps")
    assert pictures(result_of(request("A", "B"), without)) == []


def test_a_committed_comparison_of_before_concludes_what_it_did() -> None:
    """And now its total as well: async Falcon's application needs half as much again, all roles a tenth more."""
    kind, result, trials = read_folder(ROOT / "results/comparisons/falcon")
    old = result.conclusions
    labels = [variant.label for variant in result.request.variants]
    made = [trial for trial in trials if not is_look(trial.spec)]
    new = conclusions.conclude(made, labels, result.baselines, primary=old.primary).conclusions
    for before, now in zip(old.entries, new.entries, strict=True):
        means = {name: mean for name, mean in before.means.items() if mean is not None}
        assert {name: now.means[name] for name in means} == pytest.approx(means, rel=1e-5)
        for metric, one in before.against_reference.items():
            again = now.against_reference[metric]
            if one.ratio.interval is not None:
                assert again.ratio.interval == pytest.approx(one.ratio.interval, rel=1e-5)
            assert again.verdict == one.verdict
    found = new.entries[1].against_reference
    assert found[APP].ratio.ratio == pytest.approx(1.450, abs=0.001)
    assert found[TOTAL].ratio.ratio == pytest.approx(1.134, abs=0.001)
    assert "at equal rates" not in of_result(kind.report(result), result), "an older record has none"
    assert kind.pictures(result) == []
