"""tandem.studies.reproduce.experiment: what a file may hold, and what is said about one that is wrong."""

import re
from pathlib import Path
from typing import Any

import pytest
from harness_experiments import FAST, OURS, SLOW, experiment, table

from tandem.errors import UsageError
from tandem.studies.reproduce.experiment import (
    CLAIMS,
    CORE_STARTS,
    EXPERIMENTS,
    PLANS,
    WIDE_STARTS,
    pick,
    published_ratio,
    read,
    read_all,
    read_claims,
)

TOML = """\
title = "Waiting"
origin = "a document"
published_host = "a laptop"
figures = ["goodput_rps"]
rows = [{label = "a", variant = {implementation = "node"}, published = {goodput_rps = 5}, smoke = true}]
plans.smoke = {starts = 2}
plans.full = {starts = 5, cap_s = 60, requests = 10000}
"""


def test_a_file_is_read_and_has_its_name(tmp_path: Path) -> None:
    (tmp_path / EXPERIMENTS).mkdir(parents=True)
    (tmp_path / EXPERIMENTS / "waiting.toml").write_text(TOML)
    [found] = read_all(tmp_path).values()
    assert (found.name, found.plan("full").cap_s) == ("waiting", 60)
    assert found.rows[0].published == {"goodput_rps": 5}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (TOML + "name = 'x'", "name: follows from the file's name"),
        (TOML.replace("origin = ", "orgin = "), "origin: Field required"),
        (TOML + "knid = 'http'", "knid: Extra inputs"),
        (TOML.replace("starts = 5", "starts = 0"), "plans -> full -> starts: Input should be greater"),
        (
            TOML.replace("goodput_rps = 5", "goodput = 5"),
            "row 'a': published: there is no figure 'goodput'. Did you mean 'goodput_rps'",
        ),
        (TOML.replace("goodput_rps = 5", "goodput_rps = 0"), "a figure must be above 0"),
        (TOML.replace("smoke = true", "smoke = false"), "none is marked `smoke = true`"),
        (TOML.replace("title = ", "title "), "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_with_the_file_and_the_key(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "waiting.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=re.escape(told)) as error:
        read(file)
    assert str(file) in str(error.value)


@pytest.mark.parametrize(
    ("label", "told"), [(FAST, "'async' is given twice"), ("sync  2 threads", "would share one file")]
)
def test_a_label_is_given_once(label: str, told: str) -> None:
    rows = table()["rows"]
    with pytest.raises(UsageError, match=told):
        experiment(rows=[*rows, {**rows[1], "label": label}])


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ({"of": "asnyc", "to": SLOW}, "there is no row 'asnyc'. Did you mean 'async'?"),
        ({"of": FAST, "to": FAST}, "the same row"),
        ({"of": OURS, "to": FAST}, "nothing says what is claimed"),
        ({"of": FAST, "to": SLOW, "figure": "p99"}, "there is no figure 'p99'. Did you mean 'p99_ms'"),
        ({"of": FAST, "to": SLOW, "figure": "p99_ms"}, "nothing says what is claimed"),
        ({"of": FAST, "to": SLOW, "host": "a desktp"}, "no host 'a desktp'. Did you mean 'a desktop'"),
    ],
)
def test_a_claim_is_about_what_there_is(claim: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        experiment(claims=[{"text": "faster", **claim}])


def test_the_published_ratio() -> None:
    found = experiment()
    [main, ours] = found.claims
    assert published_ratio(found, main) == pytest.approx(4)
    assert published_ratio(found, main.model_copy(update={"host": "a desktop"})) == pytest.approx(5)
    assert published_ratio(found, ours) is None


def test_what_a_plan_measures() -> None:
    """core is smoke more often; wide is every row as briefly as smoke."""
    found = experiment()
    smoke, few, every = found.plan("smoke"), [SLOW, FAST], [SLOW, FAST, OURS]
    measured = {plan: [row.label for row in found.measured(plan)] for plan in PLANS}
    assert measured == {"smoke": few, "core": few, "wide": every, "full": every}
    assert found.plan("core") == smoke.model_copy(update={"starts": CORE_STARTS})
    assert found.plan("wide") == smoke.model_copy(update={"starts": WIDE_STARTS})
    assert smoke.starts < CORE_STARTS
    assert len({found.digest(plan) for plan in PLANS}) == 4


def test_the_digest_is_of_what_is_measured() -> None:
    base = experiment()
    assert base.digest("full") == experiment(sentence="other", title="other", claims=[]).digest("full")
    assert base.digest("full") != base.digest("smoke")
    changed = table()["rows"]
    changed[2]["variant"] = {"implementation": "node"}
    assert base.digest("full") != experiment(rows=changed).digest("full")
    assert base.digest("smoke") == experiment(rows=changed).digest("smoke"), "smoke does not measure that row"


def test_an_unknown_experiment_gets_the_nearest_name(root: Path) -> None:
    with pytest.raises(UsageError, match=r"no experiment 'hyper-dely'\. Did you mean 'hyper-delay'"):
        pick(root, "hyper-dely")


# ---- the repository's own ----


def test_what_was_published(root: Path) -> None:
    """Two of the documents' tables, and the ratios of two quoted sources."""
    known = read_all(root) | read_claims(root)
    hyper = {row.label: row.published for row in known["hyper-microservice"].rows if row.published}
    assert len(hyper) == 10, "six runs of wrk and four of drill"
    assert hyper["wrk -t10, release, v0.2"]["goodput_rps"] == 310_531.78
    for values in hyper.values():
        assert values["requests"] / values["total_s"] == pytest.approx(values["goodput_rps"], rel=0.01)
    files = [row for row in known["file-io"].rows if row.published]
    assert len(files) == 50
    assert all(len(row.published_elsewhere) == 1 for row in files)
    ratios = {
        "cpp-connections": {0: 1.18, 1: 0.81},
        "async-tails": {0: 0.914, 1: 2.03},
        "pooled-django": {0: 4.45, 2: 2.72},
    }
    for name, each in ratios.items():
        found = {number: published_ratio(known[name], known[name].claims[number]) for number in each}
        assert found == pytest.approx(each, abs=0.01)


def test_claims_are_quoted_and_experiments_are_not(root: Path) -> None:
    claims, experiments = read_claims(root), read_all(root)
    assert not experiments.keys() & claims.keys()
    assert all(own.source is None for own in experiments.values())
    for own in claims.values():
        measured = {row.label for row in own.measured("smoke")}
        assert own.claims
        assert all({claim.of, claim.to} <= measured for claim in own.claims)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("source = ", "# ", "a claim needs `source`, an address, and `hypothesis`"),
        ("hypothesis = ", "# ", "a claim needs `source`, an address, and `hypothesis`"),
        ("https://", "", "source"),
    ],
)
def test_a_claim_without_its_source_is_refused(
    root: Path, tmp_path: Path, old: str, new: str, told: str
) -> None:
    text = (root / CLAIMS / "small-pools.toml").read_text().replace(old, new)
    (tmp_path / CLAIMS).mkdir(parents=True)
    (tmp_path / CLAIMS / "mine.toml").write_text(text)
    with pytest.raises(UsageError, match=rf"mine\.toml: {told}"):
        read_claims(tmp_path)
