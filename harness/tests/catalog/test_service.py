"""tandem.catalog.service: service files, what is refused in one, and the scenario that it makes."""

from pathlib import Path
from typing import Any

import pytest
from harness_samples import there

from tandem.catalog.catalog import OWN_SERVICE, Catalog
from tandem.catalog.service import VALUES_BYTES, read_service
from tandem.errors import UsageError
from tandem.lab.prepare import changed

SHOP = """
images = ["shop:main", "shop:new"]
port = 3000
slo = "p90=20ms"
[environment]
A = "1"
[[request]]
weight = 9
path = "/cart/{id}?full=1"
values_file = "carts.csv"
ignore = ["items.*.id"]
[[request]]
method = "POST"
path = "/order"
body = "{}"
status = 201
"""


def written(folder: Path, text: str) -> Path:
    (folder / "carts.csv").write_text('"7","seven\nor so"\n\n8,eight\n7,again\n')
    (folder / "large.csv").write_text("7\n" * VALUES_BYTES)
    file = folder / "shop.toml"
    file.write_text(text)
    return file


def test_a_file_becomes_a_mix(tmp_path: Path, real: Catalog) -> None:
    found = read_service(written(tmp_path, SHOP), {"images": ["shop:other"]})
    assert (found.images, found.port, found.ready_path) == (["shop:other"], 3000, "/cart/7?full=1")
    assert found.request[0].paths == {"7": "/cart/7?full=1", "8": "/cart/8?full=1"}
    answers: list[dict[str, Any]] = [
        {"texts": {"7": "{}", "8": "[]"}, "media_type": "application/json"},
        {"text": "made"},
    ]
    own = changed(real.scenario(OWN_SERVICE), found.scenario_changes(answers))
    cart, order = own.parts
    assert [(one.name, one.weight, one.method, one.status) for one in own.parts] == [
        ("get-cart-id-full-1", 9, "GET", 200),
        ("post-order", 1, "POST", 201),
    ]
    assert (cart.keys, cart.answer.ignore, own.scheduled) == (["7", "8", "7"], ["items.*.id"], True)
    assert there(order.body).bytes() == b"{}"


def test_its_files_lie_beside_it(tmp_path: Path) -> None:
    file = written(tmp_path, 'database = "data/shop.sql"\n[[request]]\npath = "/"\n')
    assert read_service(file).database == str(tmp_path / "data/shop.sql")
    assert read_service(written(tmp_path, '[[request]]\npath = "/"\n')).database == ""


def test_one_request_is_no_mix(tmp_path: Path, real: Catalog) -> None:
    found = read_service(written(tmp_path, 'ready = "/up"\n[[request]]\npath = "/"\n'))
    own = changed(real.scenario(OWN_SERVICE), found.scenario_changes([{"text": "hello"}]))
    assert (own.beside, own.scheduled, own.ready, own.keys) == ([], False, "/up", [])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "request: Field required"),
        ("[[request]]\npath = 7\n", "request -> 0 -> path"),
        ('prot = 1\n[[request]]\npath = "/"\n', "prot: Extra inputs"),
        ('[[request]]\npath = "/"\nweight = 0\n', "weight"),
        ('[[request]]\npath = "/{id}"\n', "need each other"),
        ('[[request]]\npath = "/{id}"\nids = "1"\nvalues = ["1"]\n', "one of ids, values"),
        ('[[request]]\npath = "/{id}"\nvalues_file = "none.csv"\n', "none.csv: cannot be read"),
        ('[[request]]\npath = "/{id}"\nvalues_file = "large.csv"\n', "large.csv: larger than 1 MiB"),
        ('[[request]]\npath = "{id}"\nvalues = ["cart"]\n', "a path such as /cart/7 is needed, not 'cart'"),
        ('[[request]]\npath = "/"\nbody = "{}"\n', "a GET has no body"),
        ('[[request]]\npath = "/"\n[[request]]\npath = "/"\n', "the same name, or the same method and path"),
        ('compose = "compose.yaml"\n[[request]]\npath = "/"\n', "compose and service need each other"),
        ('[[request]]\npath = "/"\nignore = ["a..b"]\n', "ignore"),
        ('[[request]]\npath = "/"\nstatus = 500\n', "status"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=f"{'' if 'csv' in told else 'shop.toml.*'}{told}"):
        read_service(written(tmp_path, text))
