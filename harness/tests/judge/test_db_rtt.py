"""`--db-rtt`: what may be asked, what it puts into the path, what is judged; without it, nothing."""

from pathlib import Path

import pytest
from harness_engine import request
from harness_samples import codes, good_window, there

from tandem.catalog.catalog import Catalog
from tandem.cli.options import parse_db_rtt
from tandem.errors import UsageError
from tandem.lab.laboratory import SHARED, shared
from tandem.lab.prepare import prepare
from tandem.probes.round_trip import summary
from tandem.record.request import Conditions
from tandem.record.window import DbRtt


@pytest.mark.parametrize(("text", "ms"), [(None, None), ("15ms", 15), ("0ms", 0), ("250ms", 250)])
def test_whole_milliseconds(text: str | None, ms: int | None) -> None:
    assert parse_db_rtt(text) == ms


@pytest.mark.parametrize("text", ["0.5ms", "abc", "-5ms", "15", "", "15 ms", "1s", "251ms", "99999ms", "١ms"])
def test_anything_else_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(UsageError, match="whole milliseconds from 0ms to 250ms") as caught:
        parse_db_rtt(text)
    assert f"'{text}'" in str(caught.value)


@pytest.mark.parametrize("db_rtt_ms", [15, None])
@pytest.mark.parametrize(
    ("topology", "upstream"),
    [("full", "pgbouncer:6432"), ("pooled", "pgbouncer:6432"), ("direct", "db:5432"), ("proxied", "db:5432")],
)
def test_it_takes_the_place_of_what_the_topology_names(
    real: Catalog, tmp_path: Path, topology: str, upstream: str, db_rtt_ms: int | None
) -> None:
    of = request(conditions=Conditions(topology=topology, placement="shared", db_rtt_ms=db_rtt_ms))
    found = prepare(real, of, of.variants[0], tmp_path)
    assert (found.case.database_address, found.case.db_rtt_ms) == (upstream, db_rtt_ms)
    variables = found.stack.variables
    if db_rtt_ms is None:
        assert (variables["DATABASE_ADDRESS"], variables.get("DB_RTT_MS")) == (upstream, None)
        assert shared(found.stack) == SHARED
    else:
        assert (variables["DATABASE_ADDRESS"], variables["DB_RTT_MS"]) == ("faults:6433", "15")
        assert shared(found.stack) == [*SHARED, "faults"]


def test_every_placement_says_where_it_runs(real: Catalog) -> None:
    for placement in real.placements.values():
        assert placement.variables["FAULTS_CPUSET"] != (placement.variables["APP_CPUSET"] or None)


def test_medians_of_the_round_trips() -> None:
    found = there(summary(15, [15.0, 15.5, 99.0], [16.0, 17.0, 18.0, 30.0]))
    assert (found.setting, found.before_p50, found.during_p50, found.samples) == (15, 15.5, 17.5, 4)
    assert 18.0 < found.during_p90 < 30.0
    assert summary(15, [15.0], []) is None


@pytest.mark.parametrize(
    ("setting", "during", "grew"), [(15, 19.6, True), (15, 40.0, True), (15, 19.4, False), (0, 3.0, False)]
)
def test_a_round_trip_that_grew_is_a_warning(setting: int, during: float, grew: bool) -> None:
    trip = DbRtt(setting=setting, before_p50=15.6, during_p50=during, during_p90=19.0, samples=12)
    assert codes(good_window(db_rtt_ms=trip)) == [("db-rtt", "warning")] * grew
