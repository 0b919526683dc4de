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
from tandem.lab.prepare import check, prepare
from tandem.record.request import Conditions, Request
from tandem.report.parts import conditions_line


def asked(generators: int) -> Request:
    return request(conditions=Conditions(topology="full", placement="shared", generators=generators))


@pytest.mark.parametrize("number", [1, 3])
def test_each_has_a_container_and_all_have_one_image(real: Catalog, tmp_path: Path, number: int) -> None:
    of = asked(number)
    found = prepare(real, of, of.variants[0], tmp_path)
    further = [f"loadgen-{n}" for n in range(2, number + 1)]
    assert shared(found.stack) == [*SHARED, *further]
    assert list(services_of([found])) == SHARED, "what is built"
    assert ("GENERATORS" in found.stack.variables) is (number > 1)
    app = Application(found, tmp_path)
    assert app.generators == ["loadgen", *further]
    names = [f"closed-g{n}" for n in range(1, number + 1)] if further else ["closed"]
    assert app.names("closed") == names
    # A further generator is found by a name of its own; the first has Compose's, as ever.
    assert [found.stack._own_name(name) for name in further] == [f"tandem-bench-{name}" for name in further]
    assert [found.stack._own_name(service) for service in ("loadgen", "app", "proxy")] == [None] * 3


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
    one = made.model_copy(update={"conditions": made.conditions.model_copy(update={"generators": 1})})
    assert not made.same_but_for_the_seed(one), "neither resumed nor replayed as if it were the same"
