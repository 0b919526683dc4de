"""`--generators`: what may be asked, what it starts and who is loaded by it; without it, nothing."""

from pathlib import Path

import pytest
from harness_engine import request

from tandem.catalog.catalog import Catalog
from tandem.cli.options import read_variants
from tandem.cli.shared import Asked
from tandem.errors import UsageError
from tandem.lab.application import Application
from tandem.lab.laboratory import SHARED, services_of, shared
from tandem.lab.prepare import Prepared, check, prepare
from tandem.record.request import Conditions, Request
from tandem.report.parts import conditions_line


def asked(generators: int, scenario: str = "recipes") -> Request:
    return request(
        scenario=scenario, conditions=Conditions(topology="full", placement="shared", generators=generators)
    )


def prepared(real: Catalog, folder: Path, generators: int) -> Prepared:
    of = asked(generators)
    return prepare(real, of, of.variants[0], folder)


def test_each_has_a_container_and_all_have_one_image(real: Catalog, tmp_path: Path) -> None:
    found = prepared(real, tmp_path, 3)
    assert shared(found.stack) == [*SHARED, "loadgen-2", "loadgen-3"]
    assert list(services_of([found])) == SHARED, "what is built"
    app = Application(found, tmp_path)
    assert app.generators == ["loadgen", "loadgen-2", "loadgen-3"]
    assert app.names("closed") == ["closed-g1", "closed-g2", "closed-g3"]


def test_a_further_generators_container_is_its_own(real: Catalog, tmp_path: Path) -> None:
    """A name of its own, so that it is found by it; the first is Compose's, as ever."""
    stack = prepared(real, tmp_path, 2).stack
    assert stack._own_name("loadgen-2") == "tandem-bench-loadgen-2"
    assert [stack._own_name(service) for service in ("loadgen", "app", "proxy")] == [None] * 3


def test_without_it_nothing_changes(real: Catalog, tmp_path: Path) -> None:
    found = prepared(real, tmp_path, 1)
    assert "GENERATORS" not in found.stack.variables
    assert shared(found.stack) == SHARED
    app = Application(found, tmp_path)
    assert (app.generators, app.names("closed")) == (["loadgen"], ["closed"])
    old = Conditions.model_validate({"topology": "full", "placement": "shared"})
    assert old == asked(1).conditions, "records from before it are of one generator"


def test_fewer_connections_than_generators_are_refused_before_anything_starts(real: Catalog) -> None:
    connections = real.scenarios["recipes"].connections
    allowed, refused = asked(connections), asked(connections + 1)
    check(real, allowed, allowed.variants)
    with pytest.raises(UsageError, match=f"recipes has {connections} connections, which cannot be dealt out"):
        check(real, refused, refused.variants)


def test_it_is_a_condition_of_the_request_that_is_shown(real: Catalog) -> None:
    made = Asked(plan="smoke", generators=2).request("bench", real, read_variants(["rust-async"]))
    assert made.conditions.generators == 2
    assert "load from 2 generators" in conditions_line(made)
    assert "generators" not in conditions_line(asked(1))
    assert not made.same_but_for_the_seed(
        made.model_copy(update={"conditions": made.conditions.model_copy(update={"generators": 1})})
    ), "neither resumed nor replayed as if it were the same"
    assert Request.model_validate_json(made.model_dump_json()) == made
