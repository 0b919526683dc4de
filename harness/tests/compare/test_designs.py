"""harness/benchmarks/pairing.py on the committed comparisons: what docs/methodology.md says is what they tell."""

import importlib.util
import json
import math
import sys
from statistics import fmean, stdev
from types import ModuleType

import pytest
from harness_places import ROOT
from harness_samples import good_window

from tandem.compare.comparison import Compared, Comparison, second
from tandem.record.host import PerSecond
from tandem.record.window import Window
from tandem.wording import BOTTLENECKS, number

DESIGNS = ROOT / "results/designs"
PAGE = (ROOT / "docs/methodology.md").read_text()
GOODPUT, CPU = "goodput", "CPU per request"
DUET = "duet_cpu_us_per_request"
IN_TURN = {
    "fresh starts in blocks, one window of 4 s each": ("rate, 1 rounds", "CPU per request, 1 rounds"),
    "alternation, 6 windows of 4 s for each start": ("rate, 6 rounds", "CPU per request, 6 rounds"),
    "the same, stolen seconds cut": (
        "rate, stolen seconds cut, 6 rounds",
        "CPU, stolen seconds cut, 6 rounds",
    ),
}
"""Words of the page -> what pairing.py calls the design, for the rate and for the cost."""
ROWS = [
    (words if (folder, figure) == ("python-async", GOODPUT) else "", folder, figure, name)
    for words, names in IN_TURN.items()
    for folder in ("python-async", "python-sync")
    for figure, name in zip((GOODPUT, CPU), names, strict=True)
]
ROWS.append(("duet of 15 s after one window of 4 s", "python-async", CPU, "CPU per request, all at once"))


def benchmark(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"harness/benchmarks/{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its dataclasses look their types up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pairing() -> ModuleType:
    return benchmark("pairing")


def lines(pairing: ModuleType) -> list[str]:
    """The table of the page."""
    found = {
        (folder.name, design.name): design
        for folder in DESIGNS.iterdir()
        for design in pairing.designs(folder)[1]
    }
    out = []
    for words, folder, figure, name in ROWS:
        design = found[folder, name]
        data = f"{folder}, {len(design.ln_ratios)} blocks"
        numbers = f"{design.block_s:.0f} s | {100 * design.scatter:.1f} % | {100 * design.finds:.1f} %"
        out.append(f"| {words} | {data} | {figure} | {numbers} |".replace("|  |", "| |"))
    return out


def test_the_page_has_what_the_data_tell(pairing: ModuleType) -> None:
    expected = "\n".join(lines(pairing))
    assert expected in PAGE, f"the table should be\n{expected}"


def test_a_known_difference_is_told_as_it_was_found() -> None:
    found = json.loads((DESIGNS / "python-async/compare.json").read_text())["findings"]
    [slow] = [entry for entry in found["entries"] if entry["entrant"] == "python-async-slow"]
    compared = [slow["against_reference"][name] for name in ("app_cpu_us_per_request", DUET)]
    page = " ".join(PAGE.split())
    for one in (*compared, found["same_against_itself"][DUET]):
        low, high = one["ratio"]["interval"]
        assert f"× {one['ratio']['ratio']:.3f} ({low:.3f} to {high:.3f})" in page
    assert [one["verdict"] for one in compared] == ["dearer", "equivalent"]
    [reference] = [entry for entry in found["entries"] if entry["entrant"] == found["reference"]]
    for name, words in (("app_cpu_us_per_request", "a request costs {} µs"), (DUET, "{} µs, so it is 2.0 %")):
        assert words.format(f"{reference['means'][name]:,.0f}") in page


def example(metric: str, digits: int, limits: bool) -> list[str]:
    """The lines of a table of docs/reading-a-result.md."""
    found = Comparison.model_validate_json((DESIGNS / "python-async/compare.json").read_text()).findings

    def line(label: str, mean: float | None, compared: Compared | None, limit: str) -> str:
        cells = [label, number(mean, digits), "–", "–"]
        if compared:
            assert compared.ratio.interval
            low, high = compared.ratio.interval
            cells[2:] = [f"{compared.ratio.ratio:.3f} ({low:.3f} to {high:.3f})", compared.verdict]
        return f"| {' | '.join([*cells, *([limit] if limits else [])])} |".replace("|  |", "| |")

    out = []
    for entry in found.entries:
        mean, limit = entry.means[metric], BOTTLENECKS[entry.bottleneck or ""]
        if entry.entrant == found.reference:
            out.append(line(f"{entry.entrant} (reference)", mean, None, limit))
            out.append(line(second(entry.entrant), None, found.same_against_itself[metric], ""))
        else:
            out.append(line(entry.entrant, mean, entry.against_reference[metric], limit))
    return out


@pytest.mark.parametrize(("metric", "digits", "limits"), [("goodput_rps", 0, True), (DUET, 1, False)])
def test_the_example_of_how_to_read_a_result_is_the_record(metric: str, digits: int, limits: bool) -> None:
    page, lines = (ROOT / "docs/reading-a-result.md").read_text(), example(metric, digits, limits)
    assert "\n".join(lines) in page, f"the table should have\n{lines}"
    changed = lines[-1].replace(" (", "1 (")
    assert changed not in page, "a changed figure is noticed"


def test_another_figure_would_be_noticed(pairing: ModuleType) -> None:
    [*_, last] = lines(pairing)
    assert last not in PAGE.replace(last, last.replace(" s |", "9 s |"))


def test_a_scatter_of_nothing_finds_anything(pairing: ModuleType) -> None:
    noisy = pairing.Design("noisy", [0.1, -0.1, 0.05, -0.05, 0.0, 0.0], 45.0)
    calm = pairing.Design("calm", [0.01, -0.01, 0.005, -0.005, 0.0, 0.0], 45.0)
    assert noisy.in_budget == calm.in_budget == 20
    assert noisy.finds > 9 * calm.finds > 0
    assert "too few blocks" in str(pairing.Design("short", [0.1, 0.2], 45.0))


# ---- seconds with steal ----


def window(good: list[int], cpu_s: list[float], steal: list[float]) -> Window:
    """One with these seconds."""
    seconds = PerSecond(second=[*range(len(good))], good=good, app_cpu_s=cpu_s, steal_share=steal)
    return good_window().model_copy(update={"per_second": seconds})


def test_seconds_with_steal_are_cut_whatever_they_had(pairing: ModuleType) -> None:
    for answers, cpu_s in ((10, 9.0), (0, 0.0), (5000, math.nan)):
        found = window([100, answers, 110, 90], [0.2, cpu_s, 0.22, 0.18], [0.0, 0.5, 0.02, 0.0])
        assert pairing.cut_rate(found) == pytest.approx(100)
        assert pairing.cut_cost(found) == pytest.approx(2000)


def test_a_second_that_was_not_measured_is_cut(pairing: ModuleType) -> None:
    assert pairing.cut_rate(window([100, 7], [0.1, math.nan], [0.0, math.nan])) == 100


@pytest.mark.parametrize(("stolen", "rate"), [(0, 100), (2, 100), (3, None), (4, None)])
def test_half_of_the_seconds_are_needed(pairing: ModuleType, stolen: int, rate: float | None) -> None:
    found = window([100] * 4, [0.1] * 4, [0.021] * stolen + [0.02] * (4 - stolen))
    assert pairing.cut_rate(found) == rate
    assert (pairing.cut_cost(found) is None) == (rate is None)


def test_a_kept_second_without_a_figure_is_refused(pairing: ModuleType) -> None:
    with pytest.raises(ValueError, match="second"):
        pairing.cut_cost(window([1, 1], [1.0, math.nan], [0.0, 0.0]))


def test_no_second_and_no_answer_have_no_figure(pairing: ModuleType) -> None:
    assert pairing.cut_rate(window([], [], [])) is None
    assert pairing.cut_rate(good_window().model_copy(update={"per_second": None})) is None
    assert pairing.cut_cost(window([0], [0.1], [0.0])) is None


# ---- the host's speed ----


def test_what_is_said_of_the_hosts_speed_is_what_the_data_tell() -> None:
    speed = benchmark("host_speed")
    slope, correlation = speed.started(ROOT / "results/reference", GOODPUT)
    told = [f"{-slope:.2f} for each 1 of the logarithm of that cost (correlation {correlation:.2f})"]
    scatters = []
    for folder in ("python-async", "python-sync"):
        [itself] = [
            line for line in speed.compared(DESIGNS / folder, GOODPUT)[2] if line.entrant == second(folder)
        ]
        scatters.append(f"from {100 * stdev(itself.raw):.1f} to {100 * stdev(itself.corrected):.1f} %")
    told.append(f"{scatters[0]} in one session and {scatters[1]} in the other")
    lines = {line.entrant: line for line in speed.compared(DESIGNS / "python-async", CPU)[2]}
    slow = lines["python-async-slow"]
    raw, corrected = (math.exp(fmean(part)) for part in (slow.raw, slow.corrected))
    told.append(f"× {raw:.3f} becomes × {corrected:.3f}")
    told.append(f"{100 * (math.exp(fmean(slow.wake_ups)) - 1):.1f} % dearer beside")
    page = " ".join(PAGE.split()).replace("−", "-")
    for words in told:
        assert words in page, words


def test_a_covariate_that_knows_the_noise_takes_it_away() -> None:
    """And one that knows nothing does not: the control of what the page says."""
    speed = benchmark("host_speed")
    noise = [0.3, -0.2, 0.1, -0.1, 0.05, -0.15]
    slope, correlation = speed.within([[(x, 7 - 2 * x) for x in noise], [(x, 3 - 2 * x) for x in noise]])
    assert (round(slope, 6), round(correlation, 6)) == (-2.0, -1.0)
    shuffled = [0.1, 0.05, 0.3, -0.15, -0.2, -0.1]
    _, none = speed.within([list(zip(noise, shuffled, strict=True))])
    assert abs(none) < 0.6
