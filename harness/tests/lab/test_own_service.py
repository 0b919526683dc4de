"""tandem.lab.own_service: what is refused before anything starts, and how answers are told apart."""

from pathlib import Path
from typing import Any

import pytest
from harness_engine import request as made_request
from harness_places import ROOT

from tandem.catalog.catalog import OWN_SERVICE, Catalog
from tandem.catalog.golden import read_answers
from tandem.catalog.scenario import Scenario
from tandem.catalog.service import OwnRequest, service_of
from tandem.cli.shared import Asked
from tandem.errors import TandemError, UsageError
from tandem.lab import own_service
from tandem.lab.own_service import OwnAnswer, difference, overlay_of, with_database, with_environment
from tandem.lab.prepare import changed
from tandem.lab.stack import healthy_by
from tandem.load.client import Client
from tandem.probes.comparing import Comparison
from tandem.probes.exchanges import Exchange
from tandem.record.request import Variant

SHOP = ROOT / "examples/shop/shop.toml"
OWN: dict[str, Any] = {"image": ["a"], "get": "/"}
BY_ID: dict[str, Any] = {"image": ["a"], "get": "/{id}"}


@pytest.mark.parametrize(
    ("changes", "named", "told"),
    [
        ({}, [], "give a VARIANT"),
        ({"get": "/"}, ["rust-async"], "--get is of a service of your own"),
        ({"env": ["A=1"]}, ["rust-async"], "--env is of a service of your own"),
        ({"image": ["a"]}, [], "--image needs --get or --post"),
        (OWN, ["rust-async"], "stands in place of a VARIANT"),
        (OWN | {"lab": "two-hosts"}, [], "on this machine"),
        ({"image": ["a"], "get": "cart"}, [], "a path such as /cart/7 is needed, not 'cart'"),
        ({"image": ["a"], "get": "/a b"}, [], "a path such as"),
        (OWN | {"env": ["1A=1"]}, [], "'1A=1' is not a variable's name"),
        (BY_ID, [], "need each other"),
        (OWN | {"ids": "1"}, [], "need each other"),
        (BY_ID | {"ids": "1-"}, [], "not '1-'"),
        (BY_ID | {"ids": "2-1"}, [], "are 0 ids"),
        (BY_ID | {"ids": "1-999999999"}, [], "are 999,999,999 ids; 1 to 1,000 can be asked"),
        (OWN | {"post": "/"}, [], "needs --get or --post"),
        (OWN | {"body": "{}"}, [], "--body is of --post"),
        (OWN | {"header": ["A b=c"]}, [], "'A b=c' is no header"),
        (OWN | {"header": ["Host=b"]}, [], "the generator sets it itself"),
        (OWN | {"env": ["A=1\n2"]}, [], "is not a variable's name and a line"),
        ({"service": Path("shop.toml"), "get": "/"}, [], "--get stands in the service file"),
        ({"service": Path("no.toml")}, [], "no.toml: cannot be read"),
        ({"service": SHOP, "image": ["a"]}, ["node"], "stands in place of a VARIANT"),
        ({"service": SHOP}, [], "no `images`, and no --image here"),
        (OWN | {"scenario": "work"}, [], "--scenario is of implementations"),
        ({"port": 80}, ["rust-async"], "--port is of a service of your own"),
        ({"ids": "1"}, ["rust-async"], "--ids is of a service of your own"),
        (OWN | {"env": ["A"]}, [], "--env takes NAME=VALUE, not 'A'"),
    ],
)
def test_what_is_refused_at_once(changes: dict[str, Any], named: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Asked(**changes).variants(named)


def test_names_are_variants_as_before() -> None:
    assert [one.label for one in Asked().variants(["node", "node:THREADS=2"])] == ["node", "node:THREADS=2"]


def test_a_difference_is_small_and_says_where() -> None:
    right = OwnAnswer("application/json", b'{"id": 7, "total": 100, "lines": []}')
    other = OwnAnswer("application/json", b'{"id": 7, "total": 101, "lines": []}')
    assert difference(right, other).splitlines()[1:] == [
        '  "id": 7,',
        '- "total": 100,',
        '+ "total": 101,',
        '  "lines": []',
        'a service file leaves them out with: ignore = ["total"]',
    ]
    assert other.like(right, ["total"])
    assert not other.like(right, ["id"])
    types = difference(right, OwnAnswer("text/html", right.body)).splitlines()[1:3]
    assert types == ["-application/json", "+text/html"]
    many = OwnAnswer("application/json", str([*range(100)]).encode())
    assert difference(right, many).endswith("more lines")
    assert len(difference(right, many).splitlines()) == own_service.DIFFERENCE_LINES + 1


def scenario_with(real: Catalog, right: dict[str, OwnAnswer], **request: Any) -> Scenario:
    """The scenario of a service with one request, whose answers these are."""
    service = service_of(request=[request])
    answer = own_service.as_answer(service.request[0], right)
    return changed(real.scenario(OWN_SERVICE), service.scenario_changes([answer]))


def test_bytes_that_are_no_text_are_kept_as_they_travel(real: Catalog) -> None:
    for body in (b"{}", b"\x1f\x8b\x08\x00\xff"):
        own = scenario_with(real, {"": OwnAnswer("a/b", body)}, path="/")
        answers = read_answers(own, real.root / "contract")
        assert (answers.difference(body), answers.media_type, answers.lengths()) == (None, "a/b", {len(body)})
        assert answers.difference(body + b" ")


def test_a_post_has_its_body_and_headers(real: Catalog) -> None:
    headers = {"X-Key": "k", "content-type": "text/plain"}
    asked = {"path": "/search", "method": "POST", "body": '{"q":1}', "headers": headers}
    own = scenario_with(real, {"": OwnAnswer("a/b", b"one")}, **asked)
    client = Client(own, read_answers(own, real.root / "contract"), "127.0.0.1:1")
    assert (own.method, client.drawn_body()) == ("POST", b'{"q":1}')
    assert client.headers == headers
    client.close()


def test_answers_by_id_are_told_apart(real: Catalog) -> None:
    right = {"1": OwnAnswer("a/b", b"one"), "2": OwnAnswer("a/b", b"three")}
    own = scenario_with(real, right, path="/cart/{id}", ids="1-2")
    answers = read_answers(own, real.root / "contract")
    assert (own.keys, answers.lengths(), answers.media_type) == (["1", "2"], {3, 5}, "a/b")
    assert [key for key in ("1", "2", None, "3") if answers.difference(b"one", key) is None] == ["1"]
    for other in (OwnAnswer("a/c", b"two"), OwnAnswer("a/b", b"\xff")):
        with pytest.raises(UsageError, match="no UTF-8 text of one type"):
            scenario_with(real, {"1": right["1"], "2": other}, path="/cart/{id}", ids="1-2")


@pytest.mark.parametrize("values", [["1", "2", "1"], []])
def test_under_load_each_answer_is_held_to_its_own(real: Catalog, values: list[str]) -> None:
    """What another class asks by the same path is not this one's, and what is ignored may differ in length, too."""
    path = "/{id}" if values else "/1"
    bodies = {key: b'{"n": %s, "at": 1}' % (key or "1").encode() for key in values or [""]}
    right = {key: OwnAnswer("application/json", body) for key, body in bodies.items()}
    own = scenario_with(real, right, path=path, values=values, ignore=["at"])
    comparison = Comparison(own, read_answers(own, real.root / "contract"))

    def answered(target: str, body: bytes, method: str = "GET") -> Exchange:
        return Exchange(method, target, 200, {"content-type": "application/json"}, body, 0.1)

    good = [answered(f"/{n}", b'{"n": %d, "at": 20}' % n) for n in ((1, 2) if values else (1,))]
    found = comparison.compare([*good, answered("/1", b"{}", "POST"), answered("/3", b"{}")])
    assert (found.begun, found.compared, found.wrong) == (len(good), len(good), [])
    assert len(comparison.compare([answered("/1", b'{"n": 2, "at": 1}')]).wrong) == 1


def test_it_is_in_no_list_and_marked(real: Catalog) -> None:
    assert OWN_SERVICE not in real.implementations
    assert OWN_SERVICE not in real.scenarios
    assert real.implementation(OWN_SERVICE).contract is False
    assert real.scenario(OWN_SERVICE).statements == []
    shop = Variant(label="shop:main", implementation=OWN_SERVICE)
    own = made_request(variants=[shop], scenario=OWN_SERVICE)
    [finding] = own_service.findings(own)
    assert (finding.code, finding.severity) == ("baseline-answers", "warning")
    assert "those of shop:main, not against a contract" in finding.text
    assert own_service.findings(made_request()) == []


def test_a_value_of_the_environment_is_no_syntax() -> None:
    lines = own_service.recipe("shop:main", {"A": 'é "$B" \\'}).splitlines()
    assert lines[:2] == ["FROM shop:main", 'ENV A="é \\"\\$B\\" \\\\"']


def test_who_does_not_answer_is_told() -> None:
    with pytest.raises(TandemError, match="GET /x is not answered: ConnectError"):
        own_service.asked("127.0.0.1:1", "/x", OwnRequest(path="/x"))


COMPOSE = """
services:
  web:
    image: shop:main
    ports: ["8080:8080"]
    depends_on: {db: {condition: service_healthy}}
    environment: {DATABASE: "postgres://db/shop", PRICE: "$$5"}
  db:
    image: postgres:17
    container_name: shop-db
    volumes: ["data:/data", "./schema.sql:/docker-entrypoint-initdb.d/schema.sql"]
    healthcheck: {test: "pg_isready -U shop", interval: 1s}
  cache: {image: "valkey:8", healthcheck: {test: [CMD, valkey-cli, ping]}}
  mail: {image: "mail:1"}
volumes: {data: {}}
"""


def test_services_beside_it_are_taken_over_without_ways_out(tmp_path: Path) -> None:
    file = tmp_path / "compose.yaml"
    file.write_text(COMPOSE)
    overlay = overlay_of(file, "web")
    services = overlay["services"]
    assert [*services] == ["app", "own-cache", "own-db", "own-mail"]
    assert services["app"]["environment"] == {"DATABASE": "postgres://db/shop", "PRICE": "$$5"}
    db = services["own-db"]
    assert db["networks"] == {"own": {"aliases": ["db"]}}
    volumes = [(one["type"], one.get("read_only")) for one in db["volumes"]]
    assert volumes == [("volume", None), ("bind", True)]
    assert not {"ports", "container_name", "depends_on"} & {*db, *services["app"]}
    assert healthy_by(overlay) == {
        "own-cache": ["valkey-cli", "ping"],
        "own-db": ["sh", "-c", "pg_isready -U shop"],
        "own-mail": [],
    }
    data = tmp_path / "shop.sql"
    with pytest.raises(UsageError, match=r"shop\.sql: there is no such file"):
        with_database(overlay, data, ROOT)
    data.touch()
    with_data = with_database(overlay, data, ROOT)
    assert with_data["services"]["db"]["volumes"][0]["source"] == str(data)
    ours = with_database({}, SHOP.with_suffix(".sql"), ROOT)
    assert ours["services"]["db"]["volumes"][0]["source"] == "./examples/shop/shop.sql"
    assert healthy_by(with_data) == healthy_by(overlay), "the laboratory's own is none of those beside"
    told = with_environment(overlay, ["WORKERS", "PRICE"], {"GUNICORN_CMD_ARGS": "-w 4 --reuse=$x"})
    assert told["services"]["app"]["environment"] == {
        "WORKERS": None,
        "GUNICORN_CMD_ARGS": "-w 4 --reuse=$$x --timeout=3600 --keep-alive=3600",
        "DATABASE": "postgres://db/shop",
        "PRICE": "$$5",
    }
    assert [*with_environment({}, ["WORKERS"], {})["services"]["app"]["environment"]] == ["WORKERS"]
    with pytest.raises(UsageError, match=r"'wep'.*web"):
        overlay_of(file, "wep")
    file.write_text("services: {web: {image: a}, db: {build: .}}")
    with pytest.raises(UsageError, match="db has no `image`"):
        overlay_of(file, "web")
    file.write_text("services: 7")
    with pytest.raises(UsageError, match="Compose cannot read it"):
        overlay_of(file, "web")
