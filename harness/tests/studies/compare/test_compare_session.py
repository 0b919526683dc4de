"""A comparison as a session, and the command that appends one."""

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness_engine import FakeLab, environment_of, request, text
from harness_engine import session as engine
from harness_places import ROOT
from harness_samples import NOW, good_window, there
from rich.console import Group

from tandem.analysis.cost import APP
from tandem.catalog.catalog import Catalog
from tandem.cli import measure, shared
from tandem.cli import options as cli
from tandem.commands import session as command
from tandem.engine.run import drive, run
from tandem.engine.study import answered
from tandem.errors import TandemError, UsageError
from tandem.facts.metric import GOODPUT
from tandem.facts.paired import good_facts
from tandem.facts.session import SessionRecord, append, read_sessions
from tandem.facts.statement import beside, draws, key_of, keys_now, known, read_statements, turned
from tandem.record.request import Request
from tandem.record.result import Baselines, Result
from tandem.record.selftest import Status
from tandem.record.trial import Arrivals, Start, Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.record.window import Verdict, Window
from tandem.report.sessions import beside_lines, known_lines
from tandem.studies.compare import command as compare
from tandem.studies.compare.conclusions import METRICS, Compared
from tandem.studies.compare.report import pairs
from tandem.studies.compare.session import may_be_appended, rate_of_pair, session_of
from tandem.studies.compare.study import Compare
from tandem.studies.registry import part_of

PAIR = ("starlette-psycopg", "starlette-threads")
VARIANTS = ("falcon-sync", "falcon-async", *PAIR)
CATALOG = Catalog(ROOT)
type Measured = tuple[Result[Compared], list[Trial]]
type Run = Callable[..., Measured]


@pytest.fixture
def compared(tmp_path: Path) -> Run:
    """Runs a comparison with a laboratory that starts nothing."""
    plan = tmp_path / "turns.toml"
    plan.write_text(
        'purpose = "windows in turn"\ntrials = 3\nwarm_up_s = 2\nwarm_up_requests_per_worker = 0\nwarm_up_cap_s = 2\n'
        "closed_s = 6\nopen_s = 6\nopen_load_fraction = 0.6\n[compare]\nblocks = 6\nrounds = 1\nwindow_s = 4\nwarm_up_s = 2\n"
    )

    def made(
        cost: dict[str, float],
        *variants: str,
        seed: int = 1,
        pairs: Any = (PAIR,),
        rates: dict[str, float] | None = None,
        limits: dict[str, str] | None = None,
    ) -> Measured:
        """cost: CPU per request in µs, where it is not 500, with some noise. rates: goodputs that are not 1,000/s; limits:
        bottlenecks that are not the application's CPU."""
        chance = random.Random(seed)

        def answer(trial: TrialSpec, spec: WindowSpec) -> Window:
            label = spec.variants[0]
            own = cost.get(label, 500.0) * math.exp(chance.gauss(0, 0.004))
            scatter = math.exp(chance.gauss(0, 0.004)) if rates else 1.0
            return good_window(
                spec.load,
                app_cpu_us_per_request=own,
                goodput_rps=(rates or {}).get(label, 1000.0) * scatter,
                bottleneck=(limits or {}).get(label.removesuffix("~2"), "app-cpu"),
                duration_s=spec.seconds,
            )

        options: dict[str, Any] = {"pairs": [[*pair] for pair in pairs]}
        asked = request(*(variants or VARIANTS), study="compare", plan=str(plan), seed=seed, options=options)
        result, journal = run(Compare, asked, engine(CATALOG, tmp_path, FakeLab(answer=answer)))
        for variant in result.request.variants:
            program = CATALOG.implementation(variant.implementation)
            settings = CATALOG.effective_settings(program, 1, variant.settings)
            result.environments[variant.label] = environment_of(program.name, settings=settings)
        return result, journal.trials()

    return made


def width(record: SessionRecord, metric: str = APP) -> float:
    """Of the first interval, on the logarithm."""
    low, high = there(next(one.interval for one in record.contrasts if one.metric == metric))
    return math.log(high / low)


def failed(record: SessionRecord) -> list[str]:
    return there(record.control).failed


def test_a_session_says_how_requests_arrived_and_on_which_machines(compared: Run) -> None:
    """All labs have the placement `shared` in their request, which machines without a lab may have too."""
    result, trials = compared({})
    under = result.request.conditions
    plain = session_of(CATALOG, result, trials)
    assert (plain.arrivals, plain.placement) == (None, under.placement)
    under.arrivals, under.lab = Arrivals(process="poisson"), "two-hosts"
    found = session_of(CATALOG, result, trials)
    assert (found.arrivals, found.placement) == ("Poisson arrivals", "lab:two-hosts")


def test_sql_of_its_own_makes_no_setting_that_today_has_not(compared: Run) -> None:
    result, trials = compared({})
    plain = session_of(CATALOG, result, trials).programs
    result.environments["falcon-async"].settings["SQL"] = "own (10 statements)"
    assert session_of(CATALOG, result, trials).programs == plain


def test_a_session_has_the_contrasts_of_its_comparison_as_they_are(compared: Run) -> None:
    """Those of its baseline, and those of further pairs whose both sides take part."""
    cost = {"falcon-async": 700.0, "starlette-psycopg": 300.0, "starlette-threads": 600.0}
    result, trials = compared(cost, pairs=[PAIR, PAIR[::-1], ("rust-async", "rust-sync")])
    record = session_of(CATALOG, result, trials)
    found = {(one.of, one.to): one for one in record.contrasts if one.metric == APP}
    assert set(found) == {*((name, "falcon-sync") for name in VARIANTS[1:]), PAIR}
    assert found["falcon-async", "falcon-sync"] == result.conclusions.contrast("falcon-async", APP)
    assert found["falcon-async", "falcon-sync"].ratio == pytest.approx(1.4, rel=0.02)
    assert found[PAIR].ratio == pytest.approx(0.5, rel=0.02)
    assert found[PAIR].word == "cheaper"
    assert {key: one.family for key, one in found.items()} == {
        **dict.fromkeys(found, "primary, against the baseline"),
        PAIR: None,
    }
    assert all(one.n == 6 for one in found.values())
    assert record.programs["falcon-sync"].version == CATALOG.implementations["falcon-sync"].version
    assert failed(record) == []
    [table] = pairs(result.conclusions)
    told = [next(iter(column.cells)) for column in table.columns[:3]]
    assert told[0] == "starlette-psycopg by starlette-threads"
    assert str(told[2]).startswith("cheaper by 50"), told
    means = {one.variant: one.mean for one in record.estimates if one.metric == APP}
    assert means["falcon-async"] == pytest.approx(700, rel=0.02)


def test_a_program_is_compared_with_its_own_of_an_earlier_commit() -> None:
    named = ("falcon-sync", "node", "node@0123456", "node:WORKERS=2", "go@0123456")
    asked = request("falcon-sync", study="compare").model_copy(
        update={"variants": cli.read_variants([*named])}
    )
    assert Compare(CATALOG, asked).pairs == [("node", "node@0123456")], (
        "with the same settings, where both take part"
    )


def test_a_pair_is_compared_once_whichever_of_it_is_the_baseline(compared: Run) -> None:
    """Turned, it would be a second draw of the same statement."""
    record = session_of(CATALOG, *compared({}, *reversed(PAIR), pairs=[PAIR, PAIR[::-1]]))
    keys = [key_of(record, one) for one in record.contrasts]
    assert {(one.of, one.to) for one in record.contrasts} == {PAIR}
    assert [len(draws([record], key)) for key in keys] == [1] * len(keys)
    # The control: both ways round are two draws.
    both = record.model_copy(update={"contrasts": [*record.contrasts, *map(turned, record.contrasts)]})
    assert len(draws([both], keys[0])) == 2


def test_a_failed_control_marks_the_session_and_widens_its_intervals(compared: Run) -> None:
    plain, shifted = (
        session_of(CATALOG, *compared({"falcon-async": 700.0, "falcon-sync~2": 500.0 * by}))
        for by in (1.0, 1.02)
    )
    assert failed(plain) == []
    assert APP in failed(shifted)
    assert width(shifted) > width(plain) + 0.03


@pytest.mark.parametrize("by", [1.18, 1.04])
def test_a_metric_that_is_not_published_is_marked_and_wider(compared: Run, by: float) -> None:
    """A comparison leaves the metric out. The session keeps it: who drops what scatters finds too little scatter."""
    rates = {"falcon-async": 900.0}
    plain = session_of(CATALOG, *compared({}, rates=rates))
    result, trials = compared({}, rates={**rates, "falcon-sync~2": 1000.0 * by})
    assert result.conclusions.contrast("falcon-async", GOODPUT) is None
    assert may_be_appended(result) is None
    shifted = session_of(CATALOG, result, trials)
    assert (failed(plain), GOODPUT in failed(shifted)) == ([], True)
    more = width(shifted, GOODPUT) - width(plain, GOODPUT)
    assert more == pytest.approx(2 * math.log(by), abs=0.01)


def test_a_pair_is_ranked_by_its_own_limits_not_by_the_baselines(compared: Run) -> None:
    record = session_of(CATALOG, *compared({}, limits={"falcon-sync": "database"}))
    found = {(one.of, one.to): one.not_ranked for one in record.contrasts if one.metric == GOODPUT}
    assert found[PAIR] is None
    assert "the database" in str(found["falcon-async", "falcon-sync"])


@pytest.mark.parametrize("changes", [{"tag": "before"}, {"scenario": "index"}])
def test_what_is_no_program_of_this_repository_as_it_is_is_left_out(
    compared: Run, changes: dict[str, str]
) -> None:
    result, trials = compared({}, "falcon-sync", "falcon-async", "node")
    variants = result.request.variants
    variants[1] = variants[1].model_copy(update=changes)
    record = session_of(CATALOG, result, trials)
    assert set(record.programs) == {"falcon-sync", "node"}
    assert {one.of for one in record.contrasts} == {"node"}


def test_a_wrong_variant_takes_no_part_and_a_void_session_is_not_appended(compared: Run) -> None:
    result, trials = compared({})
    for one in result.conclusions.estimates:
        one.verdict = Verdict.INVALID if one.variant == "falcon-async" else one.verdict
    record = session_of(CATALOG, result, trials)
    assert "falcon-async" not in record.programs
    assert may_be_appended(result) is None
    void = result.model_copy(
        update={
            "reasons": ["9 of 20 windows are void"],
            "conclusions": result.conclusions.model_copy(update={"session": Verdict.VOID}),
        }
    )
    assert may_be_appended(void) == "9 of 20 windows are void"
    assert may_be_appended(result) is None, "the control"


def test_a_comparison_ends_with_what_other_sessions_say(compared: Run, tmp_path: Path) -> None:
    made = [session_of(CATALOG, *compared({"falcon-async": 700.0 + n}, seed=n)) for n in range(5)]
    same = session_of(CATALOG, *compared({"falcon-async": 702.0}, seed=9))
    other = session_of(CATALOG, *compared({"falcon-async": 1400.0}, seed=10))
    for number, record in enumerate([*made, same, other]):
        record.id = str(number)
    told = text(Group(*beside_lines(beside(same, made))), width=300)
    assert (
        "the application's CPU per request, falcon-async by falcon-sync: × 1.40 here; × 1.40 in 5 sessions,"
        " one CPU model, expected" in told
    )
    assert "as expected" in told
    assert ": outside" not in told
    told = text(Group(*beside_lines(beside(other, made))), width=300)
    assert "× 2.80 here" in told
    assert ": outside" in told
    assert beside_lines(beside(same, [])) == []


def last_lines(names: list[str], sessions: list[SessionRecord], scenario: str = "recipes") -> str:
    lines = known_lines(names, scenario, sessions, CATALOG, read_statements(ROOT).implementations)
    return text(Group(*lines), width=300)


def test_a_bench_of_one_prints_what_is_known_and_the_command_that_compares(compared: Run) -> None:
    record = session_of(CATALOG, *compared({"falcon-async": 700.0}))
    told = last_lines(["falcon-async", "node"], [record])
    assert (
        "the application's CPU per request, falcon-async by falcon-sync, recipes, full, shared: × 1.40"
        " (one session, one CPU model: no finding)"
    ) in told
    assert "just compare falcon-sync falcon-async" in told
    assert "node: no session has it on recipes yet" in told
    assert "just compare falcon-sync node" in told
    told = last_lines(["falcon-sync"], [], "index")
    assert "no session has it on index yet" in told
    assert "just compare falcon-async falcon-sync --scenario index" in told


def test_a_bench_tells_the_counterpart_with_most_sessions_and_no_older_work(compared: Run) -> None:
    both = session_of(CATALOG, *compared({"falcon-async": 700.0}))
    one = session_of(CATALOG, *compared({}, "falcon-sync", PAIR[0]))
    told = last_lines(["falcon-sync"], [both, one])
    assert told.count(f"falcon-sync by {PAIR[0]}") == 2, "over all roles, and its own"
    assert "falcon-async" not in told
    assert f"just compare {PAIR[0]} falcon-sync" in told
    for program in both.programs.values():
        program.version += 1
    assert "no session has it" in last_lines(["falcon-async"], [both])


def test_a_damaged_session_is_told_by_who_reads_sessions(
    compared: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions/20200101T000000Z-bad.json").write_text("{")
    monkeypatch.setattr(cli, "RESULTS", tmp_path)
    told = text(Group(*compare.beside_others(*compared({}))))
    assert "no two other sessions have one of these contrasts on recipes, full, shared" in told
    assert "20200101T000000Z-bad.json" in capsys.readouterr().err


# ---- the command ----


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Results of its own, a clean tree and a passed self-test."""
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    monkeypatch.setattr(command, "has_changes", lambda root: False)
    monkeypatch.setattr(measure, "line", lambda *of: (Status.PASSED, "self-test: passed"))
    for module in (command, measure):
        monkeypatch.setattr(module, "page_of", lambda folder: None)
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "told"), [(True, "commit the changes first"), (None, "git does not tell")]
)
def test_a_dirty_tree_is_refused(
    here: Path, monkeypatch: pytest.MonkeyPatch, changes: bool | None, told: str
) -> None:
    monkeypatch.setattr(command, "has_changes", lambda root: changes)
    with pytest.raises(UsageError, match=told):
        command.refuse_changed()


def test_sessions_are_listed_without_measuring(
    here: Path,
    compared: Run,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "make", None)  # it would fail
    result, trials = compared({"falcon-async": 700.0})
    result.request.conditions.placement = "two-cores"
    append(session_of(CATALOG, result, trials), here)
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
    compared: Run,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def make(kind: type, made: Any, resume: bool, as_json: bool) -> Any:
        asked.append(made)
        result, trials = compared({"falcon-async": 700.0}, *(variant.label for variant in made.variants))
        result.request.conditions.placement = made.conditions.placement
        return result, journal_of(here, trials)

    monkeypatch.setattr(command, "make", make)
    given: list[Path] = []
    monkeypatch.setattr(command, "give", lambda folder, owner: given.append(folder))
    command.session(seed=7)
    assert given == [here / "sessions"], "the harness runs as root"
    [request] = asked
    statements = read_statements(ROOT)
    assert [variant.label for variant in request.variants] == statements.implementations
    assert (request.plan, request.conditions.placement) == (statements.plan, statements.placement)
    [record], damaged = read_sessions(here)
    assert damaged == []
    found = there(known(draws([record], keys_now(statements, CATALOG, METRICS)[1])))
    assert found.ratio == pytest.approx(1.4, rel=0.02)
    assert key_of(record, record.contrasts[0]).scenario == statements.scenario
    assert "1 CPU model" in capsys.readouterr().out.replace("one CPU model", "1 CPU model")


def test_a_void_session_is_kept_but_not_appended(
    here: Path, compared: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def make(kind: type, made: Any, resume: bool, as_json: bool) -> Any:
        result, trials = compared({})
        result.conclusions.session, result.verdict = Verdict.VOID, Verdict.VOID
        result.reasons = ["9 of 20 windows are void"]
        return result, journal_of(here, trials)

    monkeypatch.setattr(command, "make", make)
    with pytest.raises(TandemError, match="not appended: 9 of 20 windows are void"):
        command.session(seed=7)
    assert "the session is void: 9 of 20 windows are void" in capsys.readouterr().out
    with pytest.raises(TandemError, match=f"kept in {here}"):
        command.session(seed=7, as_json=True)
    assert json.loads(capsys.readouterr().out)["verdict"] == "void", "JSON, and nothing else"
    assert read_sessions(here) == ([], [])


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("of", "node-jss", "no implementation 'node-jss'. Did you mean"),
        ("metric", "goodput", "no metric 'goodput'. Did you mean"),
    ],
)
def test_a_statement_of_what_there_is_not_is_one_clear_error(
    here: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: str, told: str
) -> None:
    statements = read_statements(ROOT)
    first, *others = statements.statement
    changed = [*others, first.model_copy(update={key: value})]
    wrong = statements.model_copy(update={"statement": changed})
    monkeypatch.setattr(command, "read_statements", lambda root, other=None: wrong)
    with pytest.raises(UsageError, match=rf"statements\.toml: there is {told}"):
        command.session(show=True)


def test_a_report_is_printed_whatever_happens_to_its_closing_lines(
    compared: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result, trials = compared({})
    monkeypatch.setattr(shared, "make", lambda *of: (result, journal_of(tmp_path, trials)))

    def closing(result: Any, trials: Any) -> Any:
        raise TandemError("the sessions are away")

    with pytest.raises(TandemError, match="are away"):
        shared.Asked().measure(Compare, result.request, closing)
    assert "falcon-async" in capsys.readouterr().out
    shared.Asked(as_json=True).measure(Compare, result.request, closing)
    assert json.loads(capsys.readouterr().out)["verdict"] == "ok", "JSON, and nothing behind it"


def journal_of(folder: Path, trials: list[Trial]) -> Any:
    return SimpleNamespace(folder=folder, trials=lambda: trials)


# ---- pairs at rates of their own ----


def test_each_pair_of_a_session_has_the_rates_of_its_slower_side() -> None:
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

        def record(wanted: WindowSpec) -> WindowRecord:
            windows = {label: window_of(wanted, label) for label in wanted.variants}
            made.append(WindowRecord(spec=wanted, windows=windows))
            return made[-1]

        answered(study.windows(spec), record)
        starts = {label: Start() for label in spec.variants}
        return Trial(spec=spec, started_at=NOW, verdict=Verdict.OK, starts=starts, windows=made)

    def played(asked: Request) -> tuple[Compare, list[Trial]]:
        study = Compare(CATALOG, asked)
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
    at_60 = f"{APP}_at_60"
    found_ratios = [concluded.contrast(name, at_60) for name in ("falcon-async", PAIR[0])]
    assert [one and one.ratio for one in found_ratios] == [pytest.approx(1.0), None], (
        "another rate is another cost"
    )
    assert rate_of_pair(good_facts(trials), *PAIR, at_60)
    good = good_facts(played(asked.model_copy(update={"options": {}}))[1])
    assert not rate_of_pair(good, *PAIR, at_60), "the slowest of all set the rate"
    assert rate_of_pair(good, "falcon-async", "falcon-sync", at_60)


def test_a_row_of_a_session_comes_with_its_pair() -> None:
    groups: Any = [list(VARIANTS[:2]), list(PAIR)]
    asked = request(*VARIANTS, study="compare", plan="session", options={"groups": groups})
    found = part_of(CATALOG, asked, [PAIR[0]])
    assert [variant.label for variant in found.variants] == ["falcon-sync", *PAIR]
    assert Compare(CATALOG, found).asked.groups == [["falcon-sync"], list(PAIR)]
    plain = part_of(CATALOG, asked.model_copy(update={"options": {}}), [PAIR[0]])
    assert [variant.label for variant in plain.variants] == ["falcon-sync", PAIR[0]]
    with pytest.raises(UsageError, match="node"):
        part_of(CATALOG, asked, ["node"])
