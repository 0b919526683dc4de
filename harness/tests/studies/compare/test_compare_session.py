"""A comparison as a session, and the command that appends one."""

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness_engine import FakeLab, request, text
from harness_engine import session as engine
from harness_places import ROOT
from harness_samples import NOW, good_window
from rich.console import Group

from tandem.catalog.catalog import Catalog
from tandem.commands import session as command
from tandem.engine.run import drive, run
from tandem.errors import TandemError, UsageError
from tandem.facts.session import append, read_sessions
from tandem.facts.statement import beside, draws, key_of, known, read_statements, turned
from tandem.record.request import Request
from tandem.record.result import Baselines, Result
from tandem.record.selftest import Status
from tandem.record.trial import Start, Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.record.window import Verdict, Window
from tandem.report.sessions import beside_lines, known_lines
from tandem.studies.compare.conclusions import METRICS, Compared, rate_of_pair
from tandem.studies.compare.session import may_be_appended, session_of
from tandem.studies.compare.study import Compare

PAIR = ("starlette-psycopg", "starlette-threads")
VARIANTS = ("falcon-sync", "falcon-async", *PAIR)
type Measured = tuple[Result[Compared], list[Trial]]


def answers(
    cost: dict[str, float], noise: float = 0.004, seed: int = 1
) -> Callable[[TrialSpec, WindowSpec], Window]:
    """Windows whose CPU per request is that of the variant, in µs, with some noise."""
    chance = random.Random(seed)

    def answer(trial: TrialSpec, spec: WindowSpec) -> Window:
        label = spec.variants[0]
        own = cost.get(label, 500.0) * math.exp(chance.gauss(0, noise))
        return good_window(spec.load, app_cpu_us_per_request=own, duration_s=spec.seconds)

    return answer


@pytest.fixture
def compared(real: Catalog, tmp_path: Path) -> Callable[..., Measured]:
    """Runs a comparison with a laboratory that starts nothing."""
    plan = tmp_path / "turns.toml"
    plan.write_text(
        'purpose = "windows in turn"\ntrials = 3\nwarm_up_s = 2\nwarm_up_requests_per_worker = 0\nwarm_up_cap_s = 2\n'
        "closed_s = 6\nopen_s = 6\nopen_load_fraction = 0.6\n[compare]\nblocks = 6\nrounds = 1\nwindow_s = 4\nwarm_up_s = 2\n"
    )

    def made(cost: dict[str, float], *variants: str, seed: int = 1) -> Measured:
        asked = request(*(variants or VARIANTS), study="compare", plan=str(plan), seed=seed)
        result, journal = run(
            Compare, asked, engine(real, tmp_path, FakeLab(answer=answers(cost, seed=seed)))
        )
        return result, journal.trials()

    return made


def test_a_comparison_has_the_contrasts_of_its_baseline_and_of_further_pairs(
    real: Catalog, compared: Callable[..., Measured]
) -> None:
    result, trials = compared({"falcon-async": 700.0, "starlette-psycopg": 300.0, "starlette-threads": 600.0})
    record = session_of(real, result, trials, [PAIR, ("rust-async", "rust-sync")])
    found = {(one.of, one.to): one for one in record.contrasts if one.metric == "app_cpu_us_per_request"}
    assert set(found) == {*((name, "falcon-sync") for name in VARIANTS[1:]), PAIR}
    assert found["falcon-async", "falcon-sync"].ratio == pytest.approx(1.4, rel=0.02)
    assert found[PAIR].ratio == pytest.approx(0.5, rel=0.02)
    assert found[PAIR].word == "cheaper"
    assert all(one.n == 6 for one in found.values())
    of_result = next(line for line in result.conclusions.entries if line.variant == "falcon-async")
    assert found["falcon-async", "falcon-sync"].interval == pytest.approx(
        of_result.against_reference["app_cpu_us_per_request"].ratio.interval
    )
    assert record.programs["falcon-sync"].version == real.implementations["falcon-sync"].version
    assert record.control is not None
    assert record.control.failed == []
    means = {one.variant: one.mean for one in record.estimates if one.metric == "app_cpu_us_per_request"}
    assert means["falcon-async"] == pytest.approx(700, rel=0.02)


def test_a_pair_is_compared_once_whichever_of_it_is_the_baseline(
    real: Catalog, compared: Callable[..., Measured]
) -> None:
    """Turned, it would be a second draw of the same statement."""
    result, trials = compared({}, *reversed(PAIR))
    record = session_of(real, result, trials, [PAIR, (PAIR[1], PAIR[0])])
    keys = [key_of(record, one) for one in record.contrasts]
    assert {(one.of, one.to) for one in record.contrasts} == {PAIR}
    assert [len(draws([record], key)) for key in keys] == [1] * len(keys)
    # The control: both ways round are two draws.
    both = record.model_copy(update={"contrasts": [*record.contrasts, *map(turned, record.contrasts)]})
    assert len(draws([both], keys[0])) == 2


def test_a_failed_control_marks_the_session_and_widens_its_intervals(
    real: Catalog, compared: Callable[..., Measured]
) -> None:
    cost = {"falcon-async": 700.0}
    plain, shifted = (
        session_of(real, *compared({**cost, "falcon-sync~2": 500.0 * by})) for by in (1.0, 1.02)
    )
    assert plain.control is not None
    assert plain.control.failed == []
    assert shifted.control is not None
    assert "app_cpu_us_per_request" in shifted.control.failed

    def width(record: Any) -> float:
        interval = next(one.interval for one in record.contrasts if one.metric == "app_cpu_us_per_request")
        return math.log(interval[1] / interval[0])

    assert width(shifted) > width(plain) + 0.03


def test_what_is_no_program_of_this_repository_is_left_out(
    real: Catalog, compared: Callable[..., Measured]
) -> None:
    result, trials = compared({}, "falcon-sync", "falcon-async", "node")
    result.request.variants[1].tag = "before"
    record = session_of(real, result, trials)
    assert set(record.programs) == {"falcon-sync", "node"}
    assert {one.of for one in record.contrasts} == {"node"}


def test_a_wrong_variant_takes_no_part_and_a_void_session_is_not_appended(
    real: Catalog, compared: Callable[..., Measured]
) -> None:
    result, trials = compared({})
    result.conclusions.entries[1].verdict = Verdict.INVALID
    record = session_of(real, result, trials)
    assert "falcon-async" not in record.programs
    assert may_be_appended(result) is None
    void = result.model_copy(
        update={
            "reasons": ["9 of 20 windows are void"],
            "conclusions": result.conclusions.model_copy(update={"session": Verdict.VOID}),
        }
    )
    assert may_be_appended(void) == "9 of 20 windows are void"
    unlike = void.model_copy(update={"reasons": ["the baseline differs from itself in goodput_rps: 1.050"]})
    assert may_be_appended(unlike) is None, "it carries the mark of its control"


def test_a_comparison_ends_with_what_other_sessions_say(
    real: Catalog, compared: Callable[..., Measured], tmp_path: Path
) -> None:
    made = [session_of(real, *compared({"falcon-async": 700.0 + n}, seed=n)) for n in range(5)]
    same = session_of(real, *compared({"falcon-async": 702.0}, seed=9))
    other = session_of(real, *compared({"falcon-async": 1400.0}, seed=10))
    for number, record in enumerate([*made, same, other]):
        record.id = str(number)
    told = text(Group(*beside_lines(beside(same, made))), width=300)
    assert (
        "falcon-async by falcon-sync, application's CPU per request: × 1.40 here; × 1.40 in 5 sessions"
        in told
    )
    assert "as expected" in told
    assert ": outside" not in told
    told = text(Group(*beside_lines(beside(other, made))), width=300)
    assert "× 2.80 here" in told
    assert ": outside" in told
    assert beside_lines(beside(same, [])) == []


def test_a_bench_of_one_prints_what_is_known_and_the_command_that_compares(
    real: Catalog, compared: Callable[..., Measured]
) -> None:
    record = session_of(real, *compared({"falcon-async": 700.0}))
    told = text(Group(*known_lines(["falcon-async", "node"], [record])), width=300)
    assert (
        "falcon-async: application's CPU per request on recipes × 1.40 of falcon-sync's in one session"
        in told
    )
    assert "just compare falcon-sync falcon-async" in told
    assert "node: no session knows it yet" in told


# ---- the command ----


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Results of its own, a clean tree and a passed self-test."""
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    monkeypatch.setattr(command, "has_changes", lambda root: False)
    monkeypatch.setattr(command, "line", lambda *of: (Status.PASSED, "self-test: passed"))
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "told"), [(True, "commit the changes first"), (None, "git does not tell")]
)
def test_a_dirty_tree_is_refused(
    here: Path, monkeypatch: pytest.MonkeyPatch, changes: bool | None, told: str
) -> None:
    monkeypatch.setattr(command, "has_changes", lambda root: changes)
    with pytest.raises(UsageError, match=told):
        command.refuse_unfit(untested=True)


def test_a_session_needs_a_passed_selftest(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command.refuse_unfit(untested=False)
    monkeypatch.setattr(command, "line", lambda *of: (Status.STALE, "self-test: stale"))
    with pytest.raises(UsageError, match="just selftest first"):
        command.refuse_unfit(untested=False)
    command.refuse_unfit(untested=True)


def test_sessions_are_listed_without_measuring(
    here: Path,
    real: Catalog,
    compared: Callable[..., Measured],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "make", None)  # it would fail
    result, trials = compared({"falcon-async": 700.0})
    result.request.conditions.placement = "two-cores"
    append(session_of(real, result, trials), here)
    (here / "sessions/20200101T000000Z-bad.json").write_text("{")
    command.session(show=True, as_json=True)
    said = capsys.readouterr()
    found = {one["name"]: one["known"] for one in json.loads(said.out)}
    assert found["falcon-app"]["sessions"] == 1
    assert found["rust-app"] is None
    assert "20200101T000000Z-bad.json" in said.err
    command.session(show=True)
    assert "no session" in capsys.readouterr().out


def test_a_session_is_appended_and_told(
    here: Path,
    real: Catalog,
    compared: Callable[..., Measured],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def make(kind: type, made: Any, resume: bool, as_json: bool) -> Any:
        asked.append(made)
        result, trials = compared({"falcon-async": 700.0}, *(variant.label for variant in made.variants))
        result.request.conditions.placement = made.conditions.placement
        return result, FakeJournal(here, trials)

    monkeypatch.setattr(command, "make", make)
    monkeypatch.setattr(command, "page_of", lambda folder: None)
    command.session(seed=7)
    [request] = asked
    statements = read_statements(ROOT)
    assert [variant.label for variant in request.variants] == statements.implementations
    assert (request.plan, request.conditions.placement) == (statements.plan, statements.placement)
    [record], damaged = read_sessions(here)
    assert damaged == []
    found = known(draws([record], command.keys_of(real, statements)[1]))
    assert found is not None
    assert found.ratio == pytest.approx(1.4, rel=0.02)
    assert key_of(record, record.contrasts[0]).scenario == statements.scenario
    assert "1 CPU model" in capsys.readouterr().out.replace("one CPU model", "1 CPU model")


def test_a_void_session_is_kept_but_not_appended(
    here: Path, compared: Callable[..., Measured], monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(kind: type, made: Any, resume: bool, as_json: bool) -> Any:
        result, trials = compared({})
        result.conclusions.session, result.verdict = Verdict.VOID, Verdict.VOID
        result.reasons = ["9 of 20 windows are void"]
        return result, FakeJournal(here, trials)

    monkeypatch.setattr(command, "make", make)
    with pytest.raises(TandemError, match="not appended: 9 of 20 windows are void"):
        command.session(seed=7)
    assert read_sessions(here) == ([], [])


class FakeJournal:
    def __init__(self, folder: Path, trials: list[Trial]) -> None:
        self.folder, self._trials = folder, trials

    def trials(self) -> list[Trial]:
        return self._trials

    def give_to(self, owner: Path) -> None: ...


# ---- pairs at rates of their own ----


def test_each_pair_of_a_session_has_the_rates_of_its_slower_side(real: Catalog) -> None:
    asked = request(
        *VARIANTS, study="compare", plan="session", options={"groups": [list(VARIANTS[:2]), list(PAIR)]}
    )
    rates = {"falcon-sync": 400.0, "falcon-async": 500.0, PAIR[0]: 1000.0, PAIR[1]: 900.0}

    def window_of(spec: WindowSpec, label: str) -> Window:
        offered = spec.rates_rps.get(label)
        reached = float(offered or rates[label.removesuffix("~2")])
        return good_window(spec.load, goodput_rps=reached, offered_rps=offered, duration_s=spec.seconds)

    def visit(study: Compare, spec: TrialSpec) -> Trial:
        made: list[WindowRecord] = []
        script = study.windows(spec)
        wanted = next(script, None)
        while wanted is not None:
            windows = {label: window_of(wanted, label) for label in wanted.variants}
            made.append(WindowRecord(spec=wanted, windows=windows))
            try:
                wanted = script.send(made[-1])
            except StopIteration:
                break
        starts = {label: Start() for label in spec.variants}
        return Trial(spec=spec, started_at=NOW, verdict=Verdict.OK, starts=starts, windows=made)

    def played(asked: Request) -> tuple[Compare, list[Trial]]:
        study = Compare(real, asked)
        return study, drive(study.plan(), lambda spec: visit(study, spec))

    study, trials = played(asked)
    found = {
        label: record.spec.rates_rps[label]
        for record in trials[0].windows
        if record.spec.equal_share == 0.6
        for label in record.spec.variants
    }
    assert {found[name] for name in ("falcon-sync", "falcon-sync~2", "falcon-async")} == {240}
    assert {found[name] for name in PAIR} == {540}
    concluded = study.conclude(trials, Baselines()).conclusions
    lines = {line.variant: line for line in concluded.entries}
    at_60 = "app_cpu_us_per_request_at_60"
    assert lines["falcon-async"].against_reference[at_60].ratio.ratio == pytest.approx(1.0)
    assert lines[PAIR[0]].against_reference[at_60].ratio.ratio is None, "another rate is another cost"
    assert rate_of_pair(trials, *PAIR, METRICS[at_60])
    _, together = played(asked.model_copy(update={"options": {}}))
    assert not rate_of_pair(together, *PAIR, METRICS[at_60]), "the slowest of all set the rate"
    assert rate_of_pair(together, "falcon-async", "falcon-sync", METRICS[at_60])


@pytest.mark.parametrize(
    "groups", [[["falcon-sync"]], "falcon-sync", [["falcon-sync", "falcon-async", "node"]]]
)
def test_groups_name_each_variant_once(real: Catalog, groups: Any) -> None:
    asked = request(
        "falcon-sync", "falcon-async", study="compare", plan="session", options={"groups": groups}
    )
    with pytest.raises(UsageError, match="groups name each variant once"):
        Compare(real, asked)
