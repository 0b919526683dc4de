"""tandem.engine.replay and what it is made from: prediction intervals, what differs, what is asked for again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness_engine import environment_of, made_trial, request, result_of, trial_spec, window_spec
from harness_samples import good_window, there

from tandem.analysis.prediction import of_windows, prediction_interval
from tandem.catalog.catalog import Catalog
from tandem.commands.report import record_of
from tandem.engine.replay import FILE, again, compare, differences, read_replayed
from tandem.errors import TandemError, UsageError
from tandem.record.request import Variant
from tandem.record.result import Baselines, Concluded, Environment, Result
from tandem.record.store import write_model
from tandem.record.trial import Trial, WindowRecord
from tandem.record.window import Times, Verdict
from tandem.studies.bench.conclusions import Benched
from tandem.studies.registry import of_today, part_of, read_folder

type Recorded = tuple[Result[Benched], list[Trial]]


def trials(
    *goodputs: float, cost: float = 900.0, verdict: Verdict = Verdict.OK, label: str = "rust-async"
) -> list[Trial]:
    return [
        made_trial(
            trial_spec(f"{index}-{label}", label),
            verdict,
            closed=good_window(goodput_rps=goodput, app_cpu_us_per_request=cost),
        )
        for index, goodput in enumerate(goodputs, start=1)
    ]


def recorded(made: list[Trial] | None = None, verdict: Verdict = Verdict.OK, **environment: Any) -> Recorded:
    found = Concluded(verdict=verdict, conclusions=Benched())
    result = result_of(request(), found, environments={"rust-async": environment_of(**environment)})
    return result, trials(990, 1000, 1010) if made is None else made


def outcomes(old: list[Trial], new: list[Trial]) -> dict[str, str]:
    found = compare(recorded(old), recorded(new))
    return {figure.metric: figure.outcome for figure in found.figures}


def told(before: Environment, after: Environment) -> list[str]:
    return differences({"rust-async": before}, {"rust-async": after})


# ---- the interval ----


def test_an_interval_computed_by_hand() -> None:
    # mean 12, s = 2, t(2, 97.5 %) = 4.303: half-width 4.303 x 2 x sqrt(1/3 + 1/3) = 7.027
    assert prediction_interval([10, 12, 14], 3, 0.95) == pytest.approx((4.973, 19.027), abs=0.001)
    # for one new value sqrt(1/3 + 1) = 1.1547: 9.937
    assert prediction_interval([10, 12, 14], 1, 0.95) == pytest.approx((2.063, 21.937), abs=0.001)
    # Without spread it still has the resolution.
    assert prediction_interval([100, 100, 100], 3, 0.95) == pytest.approx((99, 101))
    for values, new in (([], 3), ([10.0], 3), ([10.0, 11.0], 0)):
        assert prediction_interval(values, new, 0.95) is None


@pytest.mark.parametrize("n", [3, 6])
def test_the_interval_contains_the_new_mean_as_often_as_it_says(n: int) -> None:
    chance = np.random.default_rng(5)
    inside = narrow = 0
    for _ in range(2000):
        old, new = chance.normal(100, 10, n), chance.normal(100, 10, n).mean()
        low, high = prediction_interval(old.tolist(), n, 0.95) or (0, 0)
        inside += low <= new <= high
        # The negative control: a confidence interval of the mean, which forgets that the new mean scatters too.
        half = (high - low) / 2 / 2**0.5
        narrow += abs(new - old.mean()) <= half
    assert inside / 2000 == pytest.approx(0.95, abs=0.015)
    assert narrow / 2000 < 0.92


# ---- results ----


def test_the_same_again_is_within() -> None:
    found = compare(recorded(), recorded())
    assert found.reproduced
    assert found.differences == []
    metrics = ("goodput_rps", "app_cpu_us_per_request", "app_memory_peak_bytes", "response_time_p99_ms")
    assert {figure.metric: figure.outcome for figure in found.figures} == dict.fromkeys(metrics, "within")


OLD = (990, 1000, 1010)


@pytest.mark.parametrize(
    ("new", "goodput", "cost"),
    [
        (trials(1990, 2000, 2010), "outside", "within"),
        (trials(995, 1005, 1015), "within", "within"),
        (trials(*OLD, cost=950), "within", "outside"),
        ([], "not comparable", "not comparable"),
    ],
)
def test_each_figure_is_within_or_outside(new: list[Trial], goodput: str, cost: str) -> None:
    found = outcomes(trials(*OLD), new)
    assert (found["goodput_rps"], found["app_cpu_us_per_request"]) == (goodput, cost)
    assert compare(recorded(), recorded(new)).reproduced == ({goodput, cost} == {"within"})


def test_good_trials_and_last_attempts_are_compared_and_looks_at_the_ceilings_are_none() -> None:
    bad = trials(5000, verdict=Verdict.INVALID)
    bad[0].spec.name = "9-rust-async"
    look = made_trial(trial_spec("look-null", "ceiling null"))
    found = compare(recorded([*trials(*OLD), *bad, look]), recorded(trials(1000)))
    assert {figure.label for figure in found.figures} == {"rust-async"}
    assert found.figures[0].recorded == [*OLD]
    first = trials(500)[0]
    last = first.model_copy(update={"spec": first.spec.again(), "windows": trials(1000)[0].windows})
    assert compare(recorded([first, last]), recorded(trials(1000))).figures[0].recorded == [1000]


def test_every_variant_is_compared_with_itself() -> None:
    old = [*trials(990, 1000, 1010), *trials(490, 500, 510, label="node")]
    new = [*trials(990, 1000, 1010), *trials(990, 1000, 1010, label="node")]
    found = compare(recorded(old), recorded(new))
    outside = [(figure.label, figure.metric) for figure in found.figures if figure.outcome == "outside"]
    assert outside == [("node", "goodput_rps")]


def test_what_one_side_lacks_is_not_comparable() -> None:
    new = trials(1000, 1001)
    for trial in new:
        trial.windows[1].only.response_time_ms = Times(samples=10)
    assert outcomes(trials(990, 1010), new)["response_time_p99_ms"] == "not comparable"
    assert set(outcomes(trials(990), new).values()) == {"not comparable"}


@pytest.mark.parametrize("verdict", [Verdict.VOID, Verdict.INVALID, Verdict.FAILED])
def test_a_new_result_that_is_not_ok_reproduces_nothing(verdict: Verdict) -> None:
    assert not compare(recorded(), recorded(verdict=verdict)).reproduced
    assert not compare(recorded([]), recorded()).reproduced, "nor does nothing to compare"


# ---- what windows tell ----


def test_one_value_per_trial_however_many_windows() -> None:
    """Windows of one start are no replications of each other."""
    specs = [window_spec(f"round-{number}", "a") for number in (1, 2)]
    both = window_spec("both", "a", "b")
    made = made_trial(trial_spec("1-pair", "a", "b", windows=[*specs, both]), closed=None, open=None)
    rates = (900.0, 1100.0)
    made.windows = [
        WindowRecord(spec=spec, windows={"a": good_window(goodput_rps=rate, app_memory_peak_bytes=int(rate))})
        for spec, rate in zip(specs, rates, strict=True)
    ]
    crowd = dict.fromkeys(("a", "b"), good_window(goodput_rps=5.0))
    made.windows.append(WindowRecord(spec=both, windows=crowd))
    assert of_windows([made], "a")["goodput_rps"] == [1000.0]
    assert of_windows([made], "a")["app_memory_peak_bytes"] == [1100.0]
    assert of_windows([made], "b")["goodput_rps"] == [], "beside another it is another load"
    made.windows[1].windows["a"].app_memory_counts = "anonymous"
    older = of_windows([made], "a")["app_memory_peak_bytes"]
    assert older == [900.0], "an older record counted something else"


def test_response_times_at_a_rate_of_their_own_are_not_compared() -> None:
    """A search asks at other rates the next time."""
    made = made_trial()
    assert of_windows([made], "one")["response_time_p99_ms"] == [13.0]
    made.windows[1].spec = window_spec("step", "one", load="open", rates_rps={"one": 300})
    assert of_windows([made], "one")["response_time_p99_ms"] == []


# ---- environments ----

SETTINGS = environment_of().settings


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"git_commit": "1" * 40}, "git commit: 000000000000 -> 111111111111"),
        ({"git_dirty": True}, "the working tree had uncommitted changes now"),
        ({"host": {"cpus": 4}}, "host cpus changed: 2 -> 4"),
        ({"versions": {"oha": "1.17.0"}}, "version of oha changed: 1.16.0 -> 1.17.0"),
        ({"images": {"app": "sha256:1"}}, "image of app changed"),
        ({"hashes": {"contract/": "b"}}, "content of contract/ changed"),
        ({"configuration": {"pgbouncer": "b"}}, "configuration: pgbouncer changed"),
        ({"configuration": {}}, "configuration: pgbouncer no longer exists"),
        ({"settings": {**SETTINGS, "WORKERS": "2"}}, "setting WORKERS changed: 1 -> 2"),
        ({"variables": {"IMPL": "node"}}, "variable IMPL changed: rust-async -> node"),
    ],
)
def test_every_difference_is_told(changes: dict[str, Any], sentence: str) -> None:
    base: dict[str, Any] = {"hashes": {"contract/": "a"}, "configuration": {"pgbouncer": "a"}}
    assert told(environment_of(**base), environment_of(**{**base, **changes})) == [sentence]


def test_neither_a_setting_told_twice_nor_what_an_older_record_lacks_is_a_difference() -> None:
    before, after = (
        environment_of(settings={"WORKERS": n}, variables={"WORKERS": n, "IMPL": "x"}) for n in "12"
    )
    assert told(before, after) == ["setting WORKERS changed: 1 -> 2"]
    more = environment_of(hashes={"contract/": "a"}, host={"cpus": 2, "governor": "x"})
    assert told(environment_of(), more) == []


def test_what_changed_for_all_is_told_once_and_the_rest_with_its_variant() -> None:
    old = {name: environment_of() for name in ("a", "b")}
    new = {name: environment_of(git_commit="1" * 40) for name in ("a", "b")}
    new["b"].images = {"app": "sha256:1"}
    assert differences(old, new) == ["git commit: 000000000000 -> 111111111111", "b: image of app changed"]


# ---- what is asked for ----


def test_the_reference_can_be_asked_for_again(real: Catalog, root: Path) -> None:
    _, result, _ = read_folder(root / "results/reference")
    asked = again(real, result, 7)
    assert asked.seed == 7
    assert asked.salt == result.request.salt
    assert asked.same_but_for_the_seed(result.request), "no default has changed since"


def test_settings_and_data_are_those_of_the_record(real: Catalog) -> None:
    old, _ = recorded()
    old.request = request(
        salt="12345",
        settings={"WORKERS": "3"},
        variants=[Variant(label="x", implementation="rust-async", settings={"DB_POOL_MAX": "4"})],
    )
    assert again(real, old, 7) == old.request.model_copy(update={"seed": 7})


def test_where_a_default_has_changed_the_recorded_value_is_chosen(real: Catalog) -> None:
    """THREADS was unset, which cannot be asked for; what is no setting any more cannot either."""
    old, _ = recorded(settings={"WORKERS": "1", "DB_POOL_MAX": "9", "THREADS": "", "GONE": "1"})
    old.request.conditions.placement = "two-cores"
    assert again(real, old, 7).variants[0].settings == {"DB_POOL_MAX": "9"}


@pytest.mark.parametrize(
    ("folder", "rows", "started"),
    [
        ("reference", ["python-sync"], ["python-sync"]),
        ("reference", ["node", "rust-sync", "node"], ["rust-sync", "node"]),
        ("comparisons/recipes", ["django-async"], ["rust-async", "django-async", "rust-async~2"]),
        ("comparisons/falcon", ["falcon-sync"], ["falcon-sync", "falcon-sync~2"]),
        ("reference-experiments/cpp-connections", ["node, 10"], ["node"]),
        ("reference-experiments/hyper-delay", ["async1, 200 ms"], ["async1, 20 ms"]),
        ("reference-experiments/file-io", ["smol tasks, 5/1M"], ["smol tasks, 5/1M"]),
    ],
)
def test_some_rows_alone(real: Catalog, root: Path, folder: str, rows: list[str], started: list[str]) -> None:
    kind, result, made = read_folder(root / "results" / folder)
    whole = again(real, result, 7)
    study = kind(real, part_of(real, whole, rows))
    assert [variant.label for variant in study.variants] == started
    trials = [spec for block in study.outline() for spec in block]
    assert trials
    assert {label for spec in trials for label in spec.variants} == {*started}
    assert [variant.label for variant in kind(real, whole).variants] != started, "all of them is more"
    found = compare((result, made), (result, made), started)
    assert {figure.label for figure in found.figures} <= {*started}
    assert {figure.outcome for figure in found.figures} == {"within"}


def test_rows_of_an_experiment_come_with_those_of_their_start(real: Catalog, root: Path) -> None:
    """What a start has done before is part of a figure. The conclusions have these rows and no others."""
    kind, result, made = read_folder(root / "results/reference-experiments/hyper-delay")
    study = kind(real, part_of(real, again(real, result, 7), ["async1, 200 ms"]))
    own = [trial for trial in made if trial.spec.variants == ["async1, 20 ms"]]
    found = study.conclude(own, Baselines())
    assert found.verdict is Verdict.OK
    labels = [f"async1, {delay} ms" for delay in (20, 200, 1000)]
    assert [row.label for row in found.conclusions.rows] == labels
    assert found.conclusions.digest == result.conclusions.digest
    assert study.request.same_but_for_the_seed(of_today(real, study.request))


def test_files_of_one_row_are_concluded_without_the_others(real: Catalog, root: Path) -> None:
    kind, result, made = read_folder(root / "results/reference-experiments/file-io")
    row = "smol tasks, 5/1M"
    study = kind(real, part_of(real, again(real, result, 7), [row]))
    own = [
        trial.model_copy(update={"spec": trial.spec.model_copy(update={"variants": [row]})})
        for trial in made
        if row in trial.spec.variants
    ]
    found = study.conclude(own, Baselines())
    assert found.verdict is Verdict.OK
    assert [one.label for one in found.conclusions.rows] == [row]


def test_a_row_that_there_is_not_is_refused_with_those_that_there_are(real: Catalog) -> None:
    old, _ = recorded()
    told = r"no row 'rust-asinc'\. Did you mean 'rust-async'\? There are: rust"
    with pytest.raises(UsageError, match=told):
        part_of(real, old.request, ["rust-async", "rust-asinc"])


@pytest.mark.parametrize("name", ["crossovers/python", "explanations/published-python"])
def test_half_of_a_pair_is_refused(real: Catalog, root: Path, name: str) -> None:
    _, result, _ = read_folder(root / "results" / name)
    row = result.request.variants[0].label
    with pytest.raises(UsageError, match=r"--only is not for this record: .* takes two variants"):
        part_of(real, again(real, result, 7), [row])


def test_what_cannot_be_made_again(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"give a result\.json or its folder"):
        record_of(tmp_path / "none")
    with pytest.raises(TandemError, match="holds no finished study"):
        read_folder(record_of(tmp_path))
    (tmp_path / "result.json").write_text("{")
    assert record_of(tmp_path / "result.json") == tmp_path
    with pytest.raises(TandemError, match=r"result\.json: the record cannot be read"):
        read_folder(tmp_path)


def test_what_a_replay_found_is_read_again(tmp_path: Path) -> None:
    assert read_replayed(tmp_path) is None
    found = compare(recorded(), recorded())
    write_model(tmp_path / FILE, found)
    assert there(read_replayed(tmp_path)).model_dump_json() == found.model_dump_json()
    (tmp_path / FILE).write_text("[")
    with pytest.raises(TandemError, match=r"replay\.json: the record cannot be read"):
        read_replayed(tmp_path)
