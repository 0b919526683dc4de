"""tandem.lab.own_service: what is refused before anything starts, and how answers are told apart."""

from typing import Any

import pytest
from harness_engine import request as made_request

from tandem.catalog.catalog import OWN_SERVICE, Catalog
from tandem.catalog.golden import read_answers
from tandem.cli.shared import Asked
from tandem.errors import TandemError, UsageError
from tandem.lab import own_service
from tandem.lab.own_service import OwnAnswer, OwnRequest, difference
from tandem.load.client import Client
from tandem.record.request import Variant


@pytest.mark.parametrize(
    ("changes", "named", "told"),
    [
        ({}, [], "give a VARIANT"),
        ({"get": "/"}, ["rust-async"], "--get is of a service of your own"),
        ({"env": ["A=1"]}, ["rust-async"], "--env is of a service of your own"),
        ({"image": ["a"]}, [], "--image needs --get or --post"),
        ({"image": ["a"], "get": "/"}, ["rust-async"], "stands in place of a VARIANT"),
        ({"image": ["a"], "get": "/", "lab": "two-hosts"}, [], "on this machine"),
        ({"image": ["a"], "get": "cart"}, [], "take a path such as /cart/7, not 'cart'"),
        ({"image": ["a"], "get": "/a b"}, [], "take a path"),
        ({"image": ["a"], "get": "/", "env": ["1A=1"]}, [], "not '1A=1'"),
        ({"image": ["a"], "get": "/{id}"}, [], "need each other"),
        ({"image": ["a"], "get": "/", "ids": "1"}, [], "need each other"),
        ({"image": ["a"], "get": "/{id}", "ids": "1-"}, [], "not '1-'"),
        ({"image": ["a"], "get": "/{id}", "ids": "2-1"}, [], "are 0 ids"),
        (
            {"image": ["a"], "get": "/{id}", "ids": "1-999999999"},
            [],
            "are 999,999,999 ids; it takes 1 to 1,000",
        ),
        ({"image": ["a"], "get": "/", "post": "/"}, [], "needs --get or --post"),
        ({"image": ["a"], "get": "/", "body": "{}"}, [], "--body is of --post"),
        ({"image": ["a"], "get": "/", "header": ["A b=c"]}, [], "--header takes NAME=VALUE"),
        ({"image": ["a"], "get": "/", "header": ["Host=b"]}, [], "the generator sets it itself"),
        ({"image": ["a"], "get": "/", "env": ["A=1\n2"]}, [], "a variable's name and a line"),
        ({"image": ["a"], "get": "/", "scenario": "work"}, [], "--scenario is of implementations"),
        ({"port": 80}, ["rust-async"], "--port is of a service of your own"),
        ({"ids": "1"}, ["rust-async"], "--ids is of a service of your own"),
        ({"image": ["a"], "get": "/", "env": ["A"]}, [], "--env takes NAME=VALUE, not 'A'"),
    ],
)
def test_what_is_refused_at_once(changes: dict[str, Any], named: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Asked(**changes).variants(named)


def test_names_are_variants_as_before() -> None:
    assert [one.label for one in Asked().variants(["node", "node:THREADS=2"])] == ["node", "node:THREADS=2"]


def test_a_difference_is_small_and_says_where() -> None:
    right = OwnAnswer("application/json", b'{"id": 7, "total": 100, "lines": []}')
    told = difference(right, OwnAnswer("application/json", b'{"id": 7, "total": 101, "lines": []}'))
    assert told.splitlines()[1:] == ['  "id": 7,', '- "total": 100,', '+ "total": 101,', '  "lines": []']
    assert difference(right, OwnAnswer("text/html", right.body)).splitlines()[1:3] == [
        "-application/json",
        "+text/html",
    ]
    many = OwnAnswer("application/json", str([*range(100)]).encode())
    assert difference(right, many).endswith("more lines")
    assert len(difference(right, many).splitlines()) == own_service.DIFFERENCE_LINES + 1


def test_bytes_that_are_no_text_are_kept_as_they_travel(real: Catalog) -> None:
    for body in (b"{}", b"\x1f\x8b\x08\x00\xff"):
        own = real.scenario(OWN_SERVICE).with_changes({"answer": OwnAnswer("a/b", body).as_answer})
        answers = read_answers(own, real.root / "contract")
        assert (answers.difference(body), answers.media_type, answers.lengths()) == (None, "a/b", {len(body)})
        assert answers.difference(body + b" ")


def test_a_post_has_its_body_and_headers(real: Catalog) -> None:
    asked = OwnRequest("/search", body='{"q":1}', headers={"X-Key": "k", "content-type": "text/plain"})
    own = real.scenario(OWN_SERVICE).with_changes(asked.changes({None: OwnAnswer("a/b", b"one")}))
    client = Client(own, read_answers(own, real.root / "contract"), "127.0.0.1:1")
    assert (own.method, client.drawn_body()) == ("POST", b'{"q":1}')
    assert client.headers == {"X-Key": "k", "content-type": "text/plain"}
    client.close()


def test_answers_by_id_are_told_apart(real: Catalog) -> None:
    asked = OwnRequest("/cart/{id}", 80, ids="1-2")
    assert asked.paths == {1: "/cart/1", 2: "/cart/2"}
    own = real.scenario(OWN_SERVICE).with_changes(
        asked.changes({1: OwnAnswer("a/b", b"one"), 2: OwnAnswer("a/b", b"three")})
    )
    answers = read_answers(own, real.root / "contract")
    assert (own.expanded_ids, answers.lengths(), answers.media_type) == ([1, 2], {3, 5}, "a/b")
    assert [answers.difference(b"one", key) is None for key in (1, 2, None, 3)] == [True, False, True, False]
    for other in (OwnAnswer("a/c", b"two"), OwnAnswer("a/b", b"\xff")):
        with pytest.raises(UsageError, match="no UTF-8 text of one type"):
            asked.changes({1: OwnAnswer("a/b", b"one"), 2: other})


def test_it_is_in_no_list_and_marked(real: Catalog) -> None:
    assert OWN_SERVICE not in real.implementations
    assert OWN_SERVICE not in real.scenarios
    assert real.implementation(OWN_SERVICE).contract is False
    assert real.scenario(OWN_SERVICE).statements == []
    own = made_request(
        variants=[Variant(label="shop:main", implementation=OWN_SERVICE)], scenario=OWN_SERVICE
    )
    [finding] = own_service.findings(own)
    assert (finding.code, finding.severity) == ("baseline-answers", "warning")
    assert "those of shop:main, not against a contract" in finding.text
    assert own_service.findings(made_request()) == []


def test_a_value_of_the_environment_is_no_syntax() -> None:
    lines = own_service.recipe("shop:main", {"A": 'é "$B" \\'}).splitlines()
    assert lines[:2] == ["FROM shop:main", 'ENV A="é \\"\\$B\\" \\\\"']


def test_who_does_not_answer_is_told() -> None:
    with pytest.raises(TandemError, match="GET /x is not answered: ConnectError"):
        own_service._asked("127.0.0.1:1", "/x", OwnRequest("/x"))
