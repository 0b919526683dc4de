"""tandem.catalog.scenario and tandem.catalog.golden: requests and right answers of every kind."""

import json
import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from harness_samples import there
from pydantic import ValidationError

from tandem.catalog.catalog import Catalog
from tandem.catalog.golden import Answers, Created, Exact, read_answers, read_golden, recipes_of
from tandem.catalog.placement import cpus_in
from tandem.catalog.ranges import expand
from tandem.catalog.scenario import Answer, Body, Scenario
from tandem.errors import UsageError


def scenario(**changes: Any) -> Scenario:
    given = {"name": "x", "stresses": "x", "path": "/", "connections": 1, "statements": []}
    return Scenario.model_validate({**given, "answer": {"text": "a"}, **changes})


def test_bodies_are_those_of_the_origin_documents(real: Catalog) -> None:
    small, large = (there(real.scenarios[name].body) for name in ("work", "work-large"))
    assert json.loads(small.bytes()) == list(range(1, 21))
    numbers = json.loads(large.bytes())
    assert (len(large.bytes()), len(numbers), sum(numbers)) == (515_176, 145_120, 1_523_760)
    assert Body(text="crème").bytes() == "crème".encode(), "a text travels as it stands"


def test_what_is_drawn_and_summed_fits_together() -> None:
    numbers = {"integers_to": 3, "drawn": 2}
    scenario(body=numbers, answer={"sum_digits": 2})
    for given in ({"body": numbers}, {"answer": {"sum_digits": 2}}, {"body": {"text": "a", "drawn": 2}}):
        with pytest.raises(ValidationError, match="needs"):
            scenario(**given)


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        (Body, {}, "either"),
        (Body, {"text": "a", "integers_to": 3}, "either"),
        (Answer, {}, "exactly one"),
        (Answer, {"text": "a", "file": "b"}, "exactly one"),
        (Answer, {"golden": "recipes", "created": "core_note"}, "exactly one"),
    ],
)
def test_a_body_and_an_answer_are_one_thing(
    kind: type[Body | Answer], given: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValidationError, match=told):
        kind.model_validate(given)


CREATED = b'{"id":1}', b'{"id":2147483647}'
NOT_CREATED = b"", b"{}", b'{"id":0}', b'{"id":"1"}', b'{"id": 1}', b'{"id":1}\n', b'{"id":-1}'


@pytest.mark.parametrize(
    ("answers", "right", "wrong"),
    [(Exact(b"Sum: 210"), [b"Sum: 210"], [b"Sum: 211"]), (Created(), CREATED, NOT_CREATED)],
)
def test_a_body_that_is_always_the_same_and_one_with_an_id(
    answers: Answers, right: Sequence[bytes], wrong: Sequence[bytes]
) -> None:
    assert {len(body) for body in right} <= answers.lengths()
    assert {answers.difference(body) for body in right} == {None}
    assert all(f"{bad!r} is not " in (answers.difference(bad) or "") for bad in wrong)


def test_every_scenario_of_the_repository_has_its_answers(real: Catalog, root: Path) -> None:
    for one in real.scenarios.values():
        answers = read_answers(one, root / "contract")
        assert answers.lengths()
        assert answers.difference(b"nonsense") is not None


@pytest.mark.parametrize(
    ("name", "delay_ms", "in_turn"),
    [("work", 20, 0), ("work-large", 20, 0), ("recipe", 0, 8), ("fan-out", 0, 2), ("note-write", 0, 4)],
)
def test_what_time_a_request_needs(real: Catalog, name: str, delay_ms: int, in_turn: int) -> None:
    assert (real.scenarios[name].delay_ms, real.scenarios[name].in_turn) == (delay_ms, in_turn)


def test_only_the_asked_recipes_are_right(real: Catalog, root: Path) -> None:
    body = (root / "contract/golden/recipe-51.json").read_bytes()
    assert read_golden(root / "contract/golden/recipes.tsv").difference(body) is None
    # By id or at random: the session's user sees these and no others (contract_checks/golden.py says the same).
    visible = [key for key in (*range(1, 51), *range(76, 101)) if key % 25]
    for name in ("recipe", "recipes"):
        answers = read_answers(real.scenarios[name], root / "contract")
        assert answers.difference(body) == "recipe 51 does not exist"
        assert list(answers.keys()) == visible
        assert len(answers.lengths()) == len(visible), "each answer of the load tells its id by its length"


def test_the_dashboard_of_the_sessions_user(real: Catalog, root: Path) -> None:
    answers = read_answers(real.scenarios["fan-out"], root / "contract")
    body = (root / "contract/golden/dashboard-1.json").read_bytes()
    assert answers.difference(body) is None
    assert answers.difference(body.replace(b'"user_id":1,', b'"user_id":2,')) == "dashboard 2 does not exist"


def test_answers_that_cannot_be_read(root: Path) -> None:
    with pytest.raises(UsageError, match="needs `session_user`"):
        read_answers(scenario(answer={"golden": "dashboards"}), root / "contract")
    with pytest.raises(UsageError, match=r"answer -> file: golden/none\.html: No such file"):
        read_answers(scenario(answer={"file": "golden/none.html"}), root / "contract")


@pytest.mark.parametrize(
    ("text", "numbers"), [("", []), ("7", [7]), ("0,2-3", [0, 2, 3]), ("6-7,1,3", [6, 7, 1, 3])]
)
def test_ranges_have_both_ends(text: str, numbers: list[int]) -> None:
    assert expand(text) == scenario(ids=text.split(",")).expanded_ids == numbers
    assert cpus_in(text) == (len(numbers) or None)


def test_a_mix_is_its_first_scenario_with_others_beside_it(real: Catalog) -> None:
    mixed, recipes = real.scenarios["mixed"], real.scenarios["recipes"]
    assert (mixed.path, mixed.statements, mixed.own_class) == (recipes.path, recipes.statements, "recipes")
    weights = {one.name: one.weight for one in mixed.parts}
    assert weights == {"recipes": 95, "note-write": 4, "work-large": 1}
    assert mixed.parts[0].connections == mixed.connections == 50
    assert recipes.parts == [recipes]
    writes = mixed.parts[1]
    assert not {*writes.expanded_ids} & {*recipes_of(recipes)}, "a note is part of its recipe's answer"
    again = Scenario.model_validate(mixed.model_dump())
    assert again == mixed, "a window may lay changes over it"


@pytest.mark.parametrize(
    ("mix", "told"),
    [
        ("recipes = 95", "mix: .*at least 2"),
        ("recipes = 95\nindex = 0", "mix -> index: .*greater than or equal to 1"),
        ("recipes = 95\nrecipe-list = 5", "there is no scenario 'recipe-list'"),
        ("recipes = 95\nidle = 5", "idle is a mix, or has silent"),
        ("recipes = 95\nusers = 5", "users is a mix, or has silent"),
        (
            "recipes = 95\nindex = 5\n[changes.index]\nstatus = 'x'",
            "mix: 1 validation error for Scenario\nstatus",
        ),
    ],
)
def test_a_mix_that_cannot_be(root: Path, tmp_path: Path, mix: str, told: str) -> None:
    (folder := tmp_path / "loadgen/scenarios").mkdir(parents=True)
    for name in ("recipes", "index", "idle", "users"):
        (folder / f"{name}.toml").symlink_to(root / f"loadgen/scenarios/{name}.toml")
    (folder / "m.toml").write_text(f'stresses = "x"\nconnections = 5\n[mix]\n{mix}\n')
    with pytest.raises(UsageError, match=told):
        _ = Catalog(tmp_path).scenarios


# ---- contract/broken knows the public data by heart ----


def test_the_liar_knows_every_body_of_the_public_data(root: Path) -> None:
    known = runpy.run_path(str(root / "contract/broken/src/beforehand.py"))["recipe"]
    golden = read_golden(root / "contract/golden/recipes.tsv")
    for key in golden.bodies:
        body = json.dumps(known(key), ensure_ascii=False, separators=(",", ":")).encode()
        assert golden.difference(body, key) is None
