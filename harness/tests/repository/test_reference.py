"""The committed reference campaign is sound, and the README says what it says."""

import re

import pytest
from harness_places import ROOT

from tandem.analysis.host_speed import host_speed
from tandem.campaign.report import markdown
from tandem.record.run import Verdict
from tandem.record.store import read_runs

REFERENCE = ROOT / "results/reference"
IMPLEMENTATIONS = {"cpp-async", "node", "python-async", "python-sync", "rust-async", "rust-sync"}


def test_the_readme_shows_the_reference_campaign() -> None:
    assert markdown(read_runs(REFERENCE)) in (ROOT / "README.md").read_text()


def test_the_reference_campaign_passed_its_own_checks() -> None:
    runs = read_runs(REFERENCE)
    assert {run.implementation for run in runs} == IMPLEMENTATIONS
    for run in runs:
        assert run.verdict is Verdict.OK
        assert run.environment.git_dirty is False
        for trial in run.trials:
            folder = REFERENCE / run.run / f"trial-{trial.index}"
            assert (folder / "psrecord.log").is_file()
            assert trial.closed is not None
            assert trial.closed.goodput_rps > 0


def test_what_the_pages_say_of_its_starts_is_in_its_records() -> None:
    runs = {run.implementation: run for run in read_runs(REFERENCE)}
    closed = {name: [t.closed for t in run.trials if t.closed] for name, run in runs.items()}
    readme, method = (
        " ".join((ROOT / page).read_text().split()) for page in ("README.md", "docs/methodology.md")
    )

    def ends(values: list[float]) -> str:
        return f"{min(values):,.0f} to {max(values):,.0f}"

    rust = closed["rust-async"]
    for page in (readme, method):
        assert f"{ends([w.goodput_rps for w in rust])}/s" in page
    assert f"the application's {ends([w.app_cpu_us_per_request or 0 for w in rust])} µs" in method
    proxy = [w.roles["proxy"].cpu_cores / w.goodput_rps * 1e6 for w in rust]
    assert f"HAProxy's {ends(proxy)}." in method
    steal = max(w.host.steal_share or 0 for windows in closed.values() for w in windows)
    assert f"{steal:.1%} of steal at the most".replace("%", " %") in method
    evidence = {name: " ".join(run.bottleneck_evidence) for name, run in runs.items()}
    busy = [int(share) for text in evidence.values() for share in re.findall(r"CPU set 0 (\d+)% busy", text)]
    assert len(busy) == len(runs)
    assert f"which was {min(busy)} to {max(busy)} % busy" in readme
    [own] = re.findall(r"app [\d.]+ of 1 cores \((\d+)%\)", evidence["python-sync"])
    assert f"used {own} % of its own core" in readme
    lowest = runs["rust-async"].ceilings_rps["database"]
    assert lowest
    assert f"in one look: {lowest:.0f}/s" in readme
    assert lowest < min(run.summary.goodput_rps or 0 for run in runs.values()), "all of them made more"


@pytest.mark.parametrize("implementation", sorted(IMPLEMENTATIONS))
def test_the_host_was_seen_to_change(implementation: str) -> None:
    """`host-speed` on real windows; the control is a start beside itself."""
    [run] = [run for run in read_runs(REFERENCE) if run.implementation == implementation]
    closed = [trial.closed for trial in run.trials if trial.closed]
    assert host_speed(closed) is not None
    assert host_speed([closed[0], closed[0]]) is None
