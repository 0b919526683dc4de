import psycopg
import pytest

from shared.config import Settings
from shared.database import adapters, pool_options, pool_use
from shared.models import PoolUse


@pytest.mark.parametrize(
    ("stats", "use"),
    [
        ({"pool_size": 20}, {"checkouts": 0, "wait_us": 0}),
        ({"requests_num": 9, "requests_queued": 2, "requests_wait_ms": 31}, {"checkouts": 9, "wait_us": 31_000}),
    ],
)
def test_what_the_pool_has_counted(stats: dict[str, int], use: PoolUse) -> None:
    assert pool_use(stats) == use


@pytest.mark.parametrize("number", [1, 40_000, 2**31 - 1])
def test_an_id_has_one_type_whatever_its_value(number: int) -> None:
    dumped = psycopg.adapt.Transformer.from_context(adapters_as_context())
    dumped.dump_sequence([number], [psycopg.adapt.PyFormat.AUTO])
    assert dumped.types == (psycopg.adapters.types["int4"].oid,)


def adapters_as_context() -> psycopg.abc.AdaptContext:
    class Context:
        connection = None

        def __init__(self) -> None:
            self.adapters = adapters

    return Context()


def test_a_pool_keeps_all_its_connections_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKERS", "2")
    kept = pool_options(Settings(), psycopg.RawCursor)
    assert (kept["min_size"], kept["max_size"]) == (10, 10)
    monkeypatch.setenv("DB_PERSISTENT", "0")
    fresh = pool_options(Settings(), psycopg.RawCursor)
    assert (fresh["max_lifetime"], fresh["max_size"]) == (0, 10)
    assert "min_size" not in fresh


@pytest.mark.parametrize(("value", "threshold"), [("1", 0), ("0", None)])
def test_statements_are_prepared_on_first_use_or_never(
    monkeypatch: pytest.MonkeyPatch, value: str, threshold: int | None
) -> None:
    monkeypatch.setenv("DB_PREPARE", value)
    assert pool_options(Settings(), psycopg.RawCursor)["kwargs"]["prepare_threshold"] == threshold
