"""tandem.catalog.drafts: service files drawn from what others wrote; each can be read by Tandem."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tandem.catalog.drafts import VALUES_MOST, draft
from tandem.catalog.service import OwnRequest, OwnService, read_service
from tandem.errors import UsageError

OPENAPI = """
openapi: 3.1.0
servers: [{url: "https://shop.example/v1/"}]
paths:
  /cart/{cart}:
    parameters: [{$ref: "#/components/parameters/Cart"}]
    get:
      parameters:
        - {name: page, in: query, required: true, schema: {type: integer, default: 1}}
        - {name: sort, in: query, schema: {type: string}}
      responses: {"200": {description: the cart}}
    put:
      requestBody: {content: {application/json: {example: {tea: 2}}}}
      responses: {"204": {description: done}}
  /search:
    get: {parameters: [{name: q, in: query, required: true, schema: {type: string}}]}
  /me: {get: {security: [{token: []}], responses: {"200": {}}}}
components: {parameters: {Cart: {name: cart, in: path, required: true, schema: {type: string, enum: [a/b, c]}}}}
"""


def made(folder: Path, text: str) -> tuple[str, OwnService]:
    source, file = folder / "source", folder / "shop.toml"
    source.write_text(text)
    file.write_text(found := draft(source))
    return found, read_service(file)


def asked(service: OwnService) -> list[tuple[str, str, int]]:
    return [(one.method, one.path, one.weight) for one in service.request]


def test_the_example_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "shop.toml"
    file.write_text(draft(None))
    assert asked(read_service(file)) == [("GET", "/cart/{id}", 95), ("POST", "/search", 5)]
    for name in ("images", "port", "ready", "connections", "slo", "environment"):
        assert name in draft(None)


@pytest.mark.parametrize("as_json", [False, True])
def test_of_a_description(tmp_path: Path, as_json: bool) -> None:
    import yaml

    text, service = made(tmp_path, json.dumps(yaml.safe_load(OPENAPI)) if as_json else OPENAPI)
    assert asked(service) == [("GET", "/v1/cart/a%2Fb?page=1", 1), ("GET", "/v1/me", 1)]
    assert "# GET /v1/search: no example of q\n" in text
    assert '# path = "/v1/cart/a%2Fb"\n# body = "{\\"tea\\": 2}"\n# status = 204\n' in text
    assert "it may need a token" in text


def entry(url: str, method: str = "GET", status: int = 200, body: str | None = None) -> dict[str, object]:
    posted = {} if body is None else {"postData": {"text": body}}
    return {"request": {"url": url, "method": method, **posted}, "response": {"status": status}}


def test_of_a_recording(tmp_path: Path) -> None:
    base = "https://shop.example"
    entries = [
        *[entry(f"{base}/cart/1")] * 3,
        entry(f"{base}/cart/2?full=1"),
        entry(f"{base}/gone", status=404),
        entry("https://other.example/"),
        *[entry(f"{base}/order", "POST", 201, '{"n": 1}')] * 2,
        entry(f"{base}/order", "POST", 201, '{"n": 2}'),
    ]
    _, service = made(tmp_path, json.dumps({"log": {"entries": entries}}))
    gets, order = service.request
    assert asked(service) == [("GET", "{id}", 4), ("POST", "/order", 2)]
    drawn = Counter(gets.drawn)
    assert drawn == {"/cart/1": VALUES_MOST * 3 // 4, "/cart/2?full=1": VALUES_MOST // 4}
    assert (order.body, order.status) == ('{"n": 1}', 201)


def test_of_a_log(tmp_path: Path) -> None:
    line = '192.0.2.1 - - [28/Nov/2026:12:00:00 +0000] "{} HTTP/1.1" {} 512 "-" "curl"\n'
    rare = "".join(line.format(f"GET /rare/{number}", 200) for number in range(200))
    text = line.format("GET /a", 200) * 800 + line.format("POST /a", 200) + line.format("GET /b", 500) + rare
    found, service = made(tmp_path, text)
    [gets] = service.request
    assert gets.drawn.count("/a") > 300
    assert "1,000 GETs of 201 paths, drawn as often as they came; 101 rarer ones left out" in found
    _, service = made(tmp_path, line.format('GET /say?"quoted', 200))
    assert service.request == [OwnRequest(path='/say?"quoted')]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nothing of the kind\n", "no request in it"),
        ("{", "not of the form"),
        ("{}", "not of the form"),
        ('{"log": {"entries": [{}]}}', "not of the form"),
        ('{"paths": {"/": {"get": {"parameters": [{"$ref": "#/a"}]}}}, "a": {"$ref": "#/a"}}', "to itself"),
        ("openapi: 3.1.0\npaths: {/a: {post: {}}}\n", "# it changes something"),
        ("openapi: [\n", "not of the form"),
    ],
)
def test_what_cannot_be_drawn_from_is_told(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        made(tmp_path, text)
