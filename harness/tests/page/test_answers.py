"""tandem.page.pairs and .answers: which ratios answer the three questions, by the committed results."""

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from harness_places import result_alone

from tandem.analysis.ratios import Ratio, compare, verdict
from tandem.catalog.catalog import Catalog
from tandem.page.answers import WORDS, answer, bars
from tandem.page.lines import Kind, Line, kind_of, lines
from tandem.page.pairs import COST, RATE, AsyncRatio, ModelPair, best, pairs, questions
from tandem.page.published import measured_again
from tandem.page.read import Run, find, read
from tandem.page.site import build
from tandem.record.conclusion import Contrast, Estimate
from tandem.record.window import Verdict
from tandem.studies.reproduce.experiment import read_claims

FOLDERS = "reference", "questions", "reference-experiments", "reference-claims", "comparisons", "crossovers"


type Runs = dict[str, Run]
type Pairs = dict[str, list[ModelPair]]
"""Result -> its pairs."""


@pytest.fixture(scope="module")
def runs(root: Path) -> Runs:
    headers, _ = find([root / "results" / name for name in FOLDERS], root)
    return {header.name.removeprefix("results/"): read(header) for header in headers}


@pytest.fixture(scope="module")
def found(runs: Runs, real: Catalog) -> Pairs:
    return {name: pairs(run, lines(run, real)) for name, run in runs.items()}


def contrast(run: Run, metric: str, of: str, to: str) -> Contrast:
    every: list[Contrast] = run.result.conclusions.contrasts
    return next(one for one in every if (one.metric, one.of, one.to) == (metric, of, to))


def line(model: str, limited: str, rate: float = 100.0, **more: float) -> Line:
    values = {RATE: rate, **more}
    figures = {name: Estimate(metric=name, variant=model, mean=value, n=1) for name, value in values.items()}
    return Line(
        model, f"x-{model}", Kind("x", model), "index", "", Verdict.OK, limited=limited, figures=figures
    )


def pair(ratio: Ratio, language: str = "x", word: str | None = None) -> ModelPair:
    assert ratio.ratio is not None
    assert ratio.interval is not None
    sync, other = (line(model, "app-cpu", **{COST: 5.0}) for model in ("sync", "async"))
    told = AsyncRatio(ratio.ratio, ratio.interval, ratio.n, word)
    return ModelPair("cost", language, sync, other, told, at_least=False)


CHEAPER, OPEN, SAME = compare([-0.5, -0.51, -0.49]), compare([-0.5, 0.4, 0.1]), compare([0.01, 0.011, 0.01])
ALIKE = compare([0.02, -0.02, 0.03, -0.03, 0.01, -0.01])


def test_a_comparison_gives_its_own_ratio_also_turned(runs: Runs, found: Pairs) -> None:
    by_question = {one.question: one.ratio for one in found["comparisons/falcon"]}
    kept = contrast(runs["comparisons/falcon"], COST, "falcon-async", "falcon-sync")
    assert (by_question["cost"].ratio, by_question["cost"].interval) == (kept.ratio, kept.interval)
    assert "waiting-bound" not in by_question
    [turned] = [
        one.ratio for one in found["comparisons/recipes"] if (one.language, one.question) == ("rust", "cost")
    ]
    kept = contrast(runs["comparisons/recipes"], COST, "rust-sync", "rust-async")
    low, high = kept.interval or (0, 0)
    assert turned.ratio == pytest.approx(1 / (kept.ratio or 0))
    assert turned.interval == pytest.approx((1 / high, 1 / low))


def test_two_beside_a_third_are_compared_with_each_other(runs: Runs, found: Pairs) -> None:
    conclusions = runs["comparisons/index"].result.conclusions
    assert {one.to for one in conclusions.contrasts} == {"rust-hyper"}
    means = {one.variant: one.mean for one in conclusions.estimates if one.metric == COST}
    [cost] = [
        one.ratio for one in found["comparisons/index"] if (one.language, one.question) == ("cpp", "cost")
    ]
    assert cost.blocks == contrast(runs["comparisons/index"], COST, "cpp-sync", "rust-hyper").n
    assert cost.ratio == pytest.approx(means["cpp-async"] / means["cpp-sync"], rel=0.05)


def test_windows_of_one_start_that_may_differ_give_no_ratio_of_their_own(runs: Runs, real: Catalog) -> None:
    """The questions compare with falcon-sync, so of the other languages the page takes the ratio from the trials."""
    run = runs["questions"]
    twice = [trial.model_copy(update={"windows": trial.windows * 2}) for trial in run.trials]
    for trials, languages in ((run.trials, {"cpp", "python", "rust"}), (twice, {"python"})):
        made = replace(run, trials=trials)
        found = [one for one in pairs(made, lines(made, real)) if one.question == "cost"]
        assert {one.language for one in found} == languages


def test_the_pair_whose_stack_differs_least_is_chosen_without_a_look_at_the_difference(found: Pairs) -> None:
    every = [pair for of in found.values() for pair in of]
    chosen = best(every)
    shown = {one.language: (one.sync.implementation, one.other.implementation) for one in chosen["cost"]}
    assert shown.keys() == {"cpp", "python", "rust"}
    assert shown["python"] == ("falcon-sync", "falcon-async")
    made = {(one.sync.implementation, one.other.implementation) for one in every}
    assert ("python-sync", "python-async") not in made, "they share no part"
    assert {other for sync, other in made if sync == "rust-sync"} == {"rust-async"}
    again = best([replace(one, ratio=one.ratio._replace(ratio=99.0)) for one in every])
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
    assert not pair(CHEAPER, word=verdict(CHEAPER)).decided, "three blocks never pass a sign-flip test"
    six = compare([-0.5, -0.51, -0.49, -0.5, -0.52, -0.48])
    assert pair(six, word=verdict(six)).decided
    assert [pair(one).alike for one in (ALIKE, OPEN, CHEAPER)] == [True, False, False]


@pytest.mark.parametrize(("name", "language"), [("falcon", "python"), ("rust", "rust")])
def test_where_it_waits_a_crossover_answers_with_the_longest_wait(
    runs: Runs, found: Pairs, name: str, language: str
) -> None:
    [one] = [pair for pair in found[f"crossovers/{name}"] if pair.question == "waiting-bound"]
    assert (one.language, one.other.coordinates) == (language, {"wait_ms": 15})
    every = runs[f"crossovers/{name}"].result.conclusions.contrasts
    [last] = [each for each in every if (each.metric, each.coordinates) == (RATE, {"wait_ms": 15})]
    assert (one.ratio.ratio, one.ratio.interval) == (last.ratio, last.interval)


def test_scarce_threads_and_unlike_stacks_answer_no_question_of_the_model(found: Pairs) -> None:
    """32 threads against async, and Django against Starlette: both differ in more than the model."""
    threads = [
        one for one in found["reference-claims/async-is-threads"] if one.sync.label == "Rust, 32 threads"
    ]
    assert "waiting-bound" not in {one.question for one in threads}
    assert found["crossovers/python"] == []


def test_the_three_questions_are_answered_each_under_its_own_condition(found: Pairs) -> None:
    for one in found["questions"]:
        assert one.sync.coordinates == one.other.coordinates
        assert one.sync.coordinates["question"] == one.question
    assert {one.question for one in found["questions"]} >= {"cost", "waiting-bound"}
    couples = {(one.sync.implementation, one.other.implementation) for one in found["questions"]}
    assert couples == {(f"{name}-sync", f"{name}-async") for name in ("falcon", "rust", "cpp")}


@pytest.mark.parametrize(
    ("of", "sentence"),
    [
        (
            [pair(CHEAPER, "rust"), pair(ALIKE, "python"), pair(OPEN, "cpp")],
            "{begin} R in Rust (index); the same within 10%: R in Python (index); not decided: R in C++ (index).",
        ),
        ([pair(CHEAPER, "rust"), pair(CHEAPER, "cpp")], "{begin} R in Rust (index) and R in C++ (index)."),
        ([pair(ALIKE, "python")], "{begin} the same within 10%: R in Python (index)."),
        ([pair(OPEN)], "Nothing is decided: {lower} R in X (index)."),
        ([], "{missing}"),
    ],
)
def test_a_sentence_has_what_differs_then_what_does_not_then_what_is_not_decided(
    of: list[ModelPair], sentence: str
) -> None:
    words = WORDS["cost"]
    lower = words.begin[0].lower() + words.begin[1:]
    made = answer("cost", of)
    assert re.sub(r"× [\d.]+ \([^)]+\)", "R", made["sentence"]) == sentence.format(
        begin=words.begin, lower=lower, missing=words.missing
    )
    assert [one["decided"] for one in made["languages"]] == [one.decided for one in of]


def test_a_pair_has_a_bar_of_each_model() -> None:
    cheaper, undecided = bars({"cost": [pair(CHEAPER, "rust"), pair(OPEN, "rust")]})[1::2]
    assert (cheaper["value"], cheaper["hue"]) == (CHEAPER.ratio, "--lang-rust")
    assert undecided["hue"] == "--undecided"


def test_of_an_implementation_that_is_gone_its_name_tells(real: Catalog) -> None:
    assert kind_of("python-sync", real) == Kind(
        "python", "sync", frozenset(real.implementation("python-sync").stack)
    )
    assert kind_of("python-old-async", real) == Kind("python", "async")
    assert kind_of("python-async-slow", real) == Kind()
    assert kind_of("postgres-sync", real) == Kind(), "that is no language"


def test_without_estimates_the_verdicts_are_shown(runs: Runs, real: Catalog) -> None:
    run = runs["reference"]
    bare = run.result.conclusions.model_copy(update={"estimates": [], "contrasts": []})
    found = lines(replace(run, result=run.result.model_copy(update={"conclusions": bare})), real)
    assert [(one.label, one.verdict) for one in found][:1] == [("rust-async", Verdict.OK)]
    assert len(found) == 6


def test_every_result_has_its_lines(runs: Runs, real: Catalog) -> None:
    found = {name: lines(run, real) for name, run in runs.items()}
    assert {name for name, of in found.items() if not any(line.figures for line in of)} == set()
    bench = found["reference"]
    assert {one.label for one in bench} == {v.label for v in runs["reference"].result.request.variants}
    assert all(one.figures[RATE].interval for one in bench)


# ---- a verdict where there is a record, and "not measured" elsewhere ----


MEASURED, MISSING = "small-pools", "async-tails"


@pytest.mark.parametrize(
    ("source", "is_link"), [("https://example.org/claim", True), ("javascript:alert(1)", False)]
)
def test_a_claim_with_a_record_has_its_verdict_and_is_linked_to_an_address_alone(
    root: Path, tmp_path: Path, source: str, is_link: bool
) -> None:
    """Records may come from anywhere; those of the repository's files are checked when they are read."""
    record = result_alone(root / f"results/reference-claims/{MEASURED}")
    record["conclusions"] |= {"source": source, "hypothesis": "Small wins."}
    folder = tmp_path / "results" / MEASURED
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(record))
    claims = [claim.publication for claim in read_claims(root).values()]
    assert build([folder], tmp_path / "site", root, print, claims=claims).broken == []
    page = unescape((tmp_path / "site/index.html").read_text())
    text = page[page.index('id="published"') : page.index('id="data"')]
    missing = f"not measured, <code>just reproduce {MISSING} --plan wide</code>"
    for shown in ("1 of 2 claims stand, 1 not decided", "Small wins.", missing):
        assert shown in text
    assert f"just reproduce {MEASURED} --plan wide" not in text
    assert (f'<a href="{source}">' in text) is (source in text) is is_link


@pytest.mark.parametrize("folder", ["reference-claims", "reference-experiments"])
def test_each_claim_has_the_size_that_its_study_found(root: Path, folder: str) -> None:
    for header in find([root / "results" / folder], root)[0]:
        again = measured_again(run := read(header))
        assert again is not None
        assert [one["size"] for one in again.claims] == [
            one.size or "" for one in run.result.conclusions.claims
        ], header.name
