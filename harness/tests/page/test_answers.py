"""tandem.page.pairs and .answers: which ratios answer the three questions, by the committed results."""

from dataclasses import replace
from pathlib import Path

import pytest

from tandem.analysis.ratios import Ratio, compare, verdict
from tandem.catalog.catalog import Catalog
from tandem.page.answers import answer
from tandem.page.lines import Kind, Line, kind_of, kinds, lines
from tandem.page.pairs import COST, RATE, ModelPair, best, pairs, questions
from tandem.page.read import Run, find, read
from tandem.record.conclusion import Estimate
from tandem.record.window import Verdict
from tandem.studies.compare.conclusions import Compared
from tandem.studies.crossover.conclusions import Crossed


@pytest.fixture(scope="module")
def runs(root: Path) -> dict[str, Run]:
    names = (
        "reference",
        "questions",
        "reference-experiments",
        "reference-claims",
        "comparisons",
        "crossovers",
    )
    folders = [root / "results" / name for name in names]
    found = [read(header) for header in find(folders, root)[0]]
    return {run.header.name.removeprefix("results/"): run for run in found if isinstance(run, Run)}


def line(model: str, limited: str, rate: float = 100.0, **more: float) -> Line:
    values = {RATE: rate, **more}
    figures = {name: Estimate(metric=name, variant=model, mean=value, n=1) for name, value in values.items()}
    return Line(
        model, f"x-{model}", Kind("x", model), "index", "", Verdict.OK, limited=limited, figures=figures
    )


def pair(ratio: Ratio, language: str = "x") -> ModelPair:
    costs = {COST: 5.0}
    sides = line("sync", "app-cpu", **costs), line("async", "app-cpu", **costs)
    return ModelPair("cost", language, *sides, ratio, at_least=False, rank=(0.0,))


CHEAPER, OPEN, SAME = compare([-0.5, -0.51, -0.49]), compare([-0.5, 0.4, 0.1]), compare([0.01, 0.011, 0.01])


def test_a_comparison_gives_its_own_ratio(runs: dict[str, Run], real: Catalog) -> None:
    run = runs["comparisons/falcon"]
    found = {one.question: one for one in pairs(run, lines(run, kinds(real)))}
    conclusions = run.result.conclusions
    assert isinstance(conclusions, Compared)
    kept = conclusions.contrast("falcon-async", COST)
    assert kept is not None
    assert (found["cost"].ratio.ratio, found["cost"].ratio.interval) == (kept.ratio, kept.interval)
    assert "waiting-bound" not in found


def test_a_reference_that_is_async_is_turned(runs: dict[str, Run], real: Catalog) -> None:
    run = runs["comparisons/recipes"]
    made = pairs(run, lines(run, kinds(real)))
    found = [one for one in made if (one.language, one.question) == ("rust", "cost")]
    conclusions = run.result.conclusions
    assert isinstance(conclusions, Compared)
    assert conclusions.reference == "rust-async"
    kept = conclusions.contrast("rust-sync", COST)
    assert kept is not None
    assert kept.interval is not None
    [one] = found
    assert one.ratio.ratio == pytest.approx(1 / (kept.ratio or 0))
    assert one.ratio.interval == pytest.approx((1 / kept.interval[1], 1 / kept.interval[0]))


def test_two_beside_a_third_are_compared_with_each_other(runs: dict[str, Run], real: Catalog) -> None:
    run = runs["comparisons/index"]
    found = {(one.language, one.question): one for one in pairs(run, lines(run, kinds(real)))}
    conclusions = run.result.conclusions
    assert isinstance(conclusions, Compared)
    assert conclusions.reference == "rust-hyper"
    of, to = (conclusions.mean(label, COST) for label in ("cpp-async", "cpp-sync"))
    cost = found["cpp", "cost"].ratio
    assert cost.n == conclusions.blocks
    assert cost.ratio == pytest.approx((of or 0) / (to or 1), rel=0.05)


def test_the_pair_whose_stack_differs_least_is_shown(runs: dict[str, Run], real: Catalog) -> None:
    found = [one for run in runs.values() for one in pairs(run, lines(run, kinds(real)))]
    shown = {one.language: (one.sync.implementation, one.other.implementation) for one in best(found)["cost"]}
    assert shown["python"] == ("falcon-sync", "falcon-async")
    assert ("python-sync", "python-async") not in {
        (one.sync.implementation, one.other.implementation) for one in found
    }, "two stacks that share no part say nothing of the model"
    assert not {one.other.implementation for one in found if one.sync.implementation == "rust-sync"} - {
        "rust-async"
    }


def test_the_best_evidence_is_chosen_without_a_look_at_the_difference(
    runs: dict[str, Run], real: Catalog
) -> None:
    found = [one for run in runs.values() for one in pairs(run, lines(run, kinds(real)))]
    chosen = best(found)
    assert {one.language for one in chosen["cost"]} == {"cpp", "python", "rust"}
    other_size = [replace(one, ratio=one.ratio.model_copy(update={"ratio": 99.0})) for one in found]
    again = best(other_size)
    for question, of in chosen.items():
        assert [one.sync for one in again[question]] == [one.sync for one in of]


@pytest.mark.parametrize(
    ("sync", "other", "found"),
    [
        (line("sync", "app-cpu"), line("async", "app-thread"), ["application-bound"]),
        (line("sync", "app-cpu", 90), line("async", "database", 110), ["application-bound"]),
        (line("sync", "app-cpu", 110), line("async", "database", 90), []),
        (line("sync", "app-cpu+app-thread"), line("async", "app-cpu+database", 110), ["application-bound"]),
        (line("sync", "app-cpu+database", 90), line("async", "app-cpu", 110), []),
        (line("sync", "thread-pool"), line("async", "latency-bound"), []),
        (line("sync", "thread-pool+distance"), line("async", "pool-wait+distance"), ["waiting-bound"]),
        (line("sync", "pool-wait+database"), line("async", "pool-wait"), []),
        (line("sync", "app-cpu", 90), line("async", "pool-wait", 110), []),
        (line("sync", "generator"), line("async", "generator"), []),
        (line("sync", "generator", **{COST: 1.0}), line("async", "generator", **{COST: 1.0}), ["cost"]),
    ],
)
def test_what_limited_says_which_question_is_answered(sync: Line, other: Line, found: list[str]) -> None:
    assert questions(sync, other) == found


def test_decided_is_what_lies_on_one_side_and_beyond_the_margin() -> None:
    assert pair(CHEAPER).decided
    assert not pair(OPEN).decided
    assert not pair(SAME).decided, "an interval within 3 % is no difference"
    assert not replace(pair(CHEAPER), word=verdict(CHEAPER)).decided, (
        "three blocks never pass the sign-flip test"
    )
    six = compare([-0.5, -0.51, -0.49, -0.5, -0.52, -0.48])
    assert replace(pair(six), word=verdict(six)).decided


def test_where_it_waits_a_crossover_answers_with_the_longest_wait(
    runs: dict[str, Run], real: Catalog
) -> None:
    for name, language in (("falcon", "python"), ("rust", "rust")):
        run = runs[f"crossovers/{name}"]
        crossed = run.result.conclusions
        assert isinstance(crossed, Crossed)
        made = pairs(run, lines(run, kinds(real)))
        [found] = [one for one in made if one.question == "waiting-bound"]
        last = crossed.contrasts[-1]
        assert (found.question, found.language) == ("waiting-bound", language)
        assert (found.ratio.ratio, found.ratio.interval) == (last.ratio, last.interval)
        assert found.other.coordinates == {"wait_ms": 15}


def test_scarce_threads_and_unlike_stacks_answer_no_question_of_the_model(
    runs: dict[str, Run], real: Catalog
) -> None:
    """32 threads against async, and Django against Starlette: both differ in more than the model."""
    claim, crossed = runs["reference-claims/async-is-threads"], runs["crossovers/python"]
    found = pairs(claim, lines(claim, kinds(real)))
    assert "waiting-bound" not in {one.question for one in found if one.sync.label == "Rust, 32 threads"}
    assert pairs(crossed, lines(crossed, kinds(real))) == []


def test_the_three_questions_are_answered_each_under_its_own_condition(
    runs: dict[str, Run], real: Catalog
) -> None:
    run = runs["questions"]
    found = pairs(run, lines(run, kinds(real)))
    for one in found:
        assert one.sync.coordinates == one.other.coordinates
        assert one.sync.coordinates["question"] == one.question
    assert {one.question for one in found} >= {"cost", "waiting-bound"}
    assert {(one.sync.implementation, one.other.implementation) for one in found} == {
        ("falcon-sync", "falcon-async"),
        ("rust-sync", "rust-async"),
        ("cpp-sync", "cpp-async"),
    }


def test_a_difference_that_is_small_in_any_case_is_told_as_none() -> None:
    alike = compare([0.02, -0.02, 0.03, -0.03, 0.01, -0.01])
    assert pair(alike).alike
    assert not pair(OPEN).alike
    assert not pair(CHEAPER).alike
    text = answer("cost", [pair(CHEAPER, "rust"), pair(alike, "python"), pair(OPEN, "cpp")]).sentence
    assert "in Rust (index); the same within 10%: × 1.00 (" in text
    assert "in Python (index); not decided: × 1.00 (" in text
    told = answer("waiting-bound", [pair(alike, "python"), pair(OPEN, "cpp")])
    assert told.sentence.startswith(
        "Where waiting is the limit, the goodput of async, compared with sync, is the same"
    )
    assert [one.word for one in told.told] == ["the same within 10%", "not decided"]


def test_a_sentence_tells_what_is_decided_and_what_is_not() -> None:
    text = answer("cost", [pair(CHEAPER, "rust"), pair(OPEN, "cpp")]).sentence
    assert text.startswith("Compared with sync, the CPU time of async for one request is × 0.61 (")
    assert "in Rust (index); not decided: × 1.00 (" in text
    assert text.endswith("in C++ (index).")
    assert answer("cost", [pair(OPEN)]).sentence.startswith("Nothing is decided: compared with sync, the CPU")
    missing = answer("waiting-bound", [])
    assert missing.sentence.startswith("No result has")
    assert missing.remedy.startswith("just compare")


def test_of_an_implementation_that_is_gone_its_name_tells(real: Catalog) -> None:
    known = kinds(real)
    assert kind_of("python-sync", known) == known["python-sync"]
    assert kind_of("python-old-async", known) == Kind("python", "async")
    assert kind_of("python-async-slow", known) == Kind()
    assert kind_of("postgres-sync", known) == Kind(), "that is no language"


def test_of_a_study_without_estimates_the_verdicts_are_told(runs: dict[str, Run], real: Catalog) -> None:
    run = runs["reference"]
    bare = run.result.conclusions.model_copy(update={"estimates": [], "contrasts": []})
    found = lines(replace(run, result=run.result.model_copy(update={"conclusions": bare})), kinds(real))
    assert [(one.label, one.verdict) for one in found][:1] == [("rust-async", Verdict.OK)]
    assert len(found) == 6


def test_every_result_has_its_lines(runs: dict[str, Run], real: Catalog) -> None:
    for name, run in runs.items():
        found = lines(run, kinds(real))
        assert found, name
        assert any(one.figures for one in found), name
    bench = lines(runs["reference"], kinds(real))
    assert {one.label for one in bench} == {v.label for v in runs["reference"].result.request.variants}
    assert all(one.figures[RATE].interval for one in bench)
