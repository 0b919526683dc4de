"""tandem.studies.reproduce.experiment: what a file may hold, and what is said about one that is wrong."""

import re
from pathlib import Path
from typing import Any

import pytest
from harness_experiments import FAST, OURS, SLOW, experiment, table
from pydantic import BaseModel, ConfigDict

from tandem.errors import UsageError
from tandem.studies.reproduce.experiment import (
    CORE_STARTS,
    WIDE_STARTS,
    parse_run,
    pick,
    published_ratio,
    read,
    read_all,
)
from tandem.studies.reproduce.figures import FIGURES

TOML = """\
title = "Waiting"
origin = "a document"
published_host = "a laptop"
kind = "http"
figures = ["goodput_rps"]
rows = [{label = "a", run = {x = 1}, published = {goodput_rps = 5}, smoke = true}]
plans.smoke = {starts = 2}
plans.full = {starts = 5, cap_s = 60, requests = 10000}
"""


def test_a_file_is_read_and_has_its_name(tmp_path: Path) -> None:
    (tmp_path / "loadgen/experiments").mkdir(parents=True)
    (tmp_path / "loadgen/experiments/waiting.toml").write_text(TOML)
    [found] = read_all(tmp_path).values()
    assert (found.name, found.rows[0].published, found.plan("full").cap_s) == (
        "waiting",
        {"goodput_rps": 5},
        60,
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (TOML + "name = 'x'", "name: follows from the file's name"),
        (TOML.replace("kind = ", "knid = "), "kind: Field required"),
        (TOML + "knid = 'http'", "knid: Extra inputs"),
        (TOML.replace('"http"', '"htpp"'), "kind: Input should be"),
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


def test_a_label_is_given_once() -> None:
    rows = table()["rows"]
    with pytest.raises(UsageError, match="'async' is given twice"):
        experiment(rows=[*rows, rows[1]])
    with pytest.raises(UsageError, match="would share one file"):
        experiment(rows=[*rows, {**rows[1], "label": "sync  2 threads"}])


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ({"of": "asnyc", "to": SLOW}, "there is no row 'asnyc'. Did you mean 'async'?"),
        ({"of": FAST, "to": FAST}, "the same row"),
        ({"of": OURS, "to": FAST}, "nothing says what is claimed"),
        ({"of": FAST, "to": SLOW, "figure": "p99"}, "there is no figure 'p99'. Did you mean 'p99_ms'"),
        ({"of": FAST, "to": SLOW, "figure": "p99_ms"}, "nothing says what is claimed"),
        (
            {"of": FAST, "to": SLOW, "host": "a desktp"},
            "there is no host 'a desktp'. Did you mean 'a desktop'",
        ),
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


def test_smoke_measures_a_part() -> None:
    assert [row.label for row in experiment().measured("smoke")] == [SLOW, FAST]
    assert len(experiment().measured("full")) == 3


def test_core_is_smoke_more_often() -> None:
    found = experiment()
    assert found.measured("core") == found.measured("smoke")
    assert found.plan("core").starts == CORE_STARTS > found.plan("smoke").starts
    assert found.plan("core").model_copy(update={"starts": 0}) == found.plan("smoke").model_copy(
        update={"starts": 0}
    )
    assert len({found.digest(plan) for plan in ("smoke", "core", "wide", "full")}) == 4


def test_wide_is_every_row_as_briefly_as_smoke() -> None:
    found = experiment()
    assert found.measured("wide") == found.measured("full")
    assert found.plan("wide") == found.plan("smoke").model_copy(update={"starts": WIDE_STARTS})


class Run(BaseModel):
    model_config = ConfigDict(extra="forbid")
    implementation: str
    scenario: str
    settings: dict[str, str] = {}


def test_a_row_is_laid_over_what_all_have() -> None:
    found = experiment()
    assert parse_run(found, found.rows[0], Run).settings == {"WORKERS": "1", "THREADS": "2"}
    assert parse_run(found, found.rows[1], Run).model_dump() == {
        "implementation": "rust-hyper",
        "scenario": "work",
        "settings": {"WORKERS": "1"},
    }
    wrong = experiment(run={"scenario": "work", "setting": {}})
    with pytest.raises(UsageError, match=r"waiting: row 'sync, 2 threads': run -> setting: Extra"):
        parse_run(wrong, wrong.rows[0], Run)


def test_the_digest_is_of_what_is_measured() -> None:
    base = experiment()
    assert base.digest("full") == experiment(sentence="other", title="other", claims=[]).digest("full")
    assert base.digest("full") != base.digest("smoke")
    changed = table()["rows"]
    changed[2]["run"] = {"implementation": "node"}
    assert base.digest("full") != experiment(rows=changed).digest("full")
    assert base.digest("smoke") == experiment(rows=changed).digest("smoke"), "smoke does not measure that row"


def test_an_unknown_experiment_gets_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"no experiment 'wating'\. Did you mean 'waiting'"):
        pick({"waiting": experiment()}, "wating")


def test_the_repositorys_own_can_be_read(root: Path) -> None:
    found = read_all(root)
    assert all(set(own.figures) <= set(FIGURES) for own in found.values())
