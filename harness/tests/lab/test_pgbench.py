"""tandem.lab.pgbench: a scenario as a script, and pgbench's summary."""

from pathlib import Path

import pytest

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.lab.pgbench import PARAMETERS, Transactions, parse, script

SUMMARY = """\
pgbench (17.6 (Debian 17.6-0+deb13u1))
transaction type: /script.sql
scaling factor: 1
query mode: prepared
number of clients: 20
number of threads: 1
maximum number of tries: 1
duration: 8 s
number of transactions actually processed: 9701
number of failed transactions: 0 (0.000%)
latency average = 16.402 ms
initial connection time = 11.934 ms
tps = 1219.331874 (without initial connection time)
"""


def test_the_rate_is_read_from_the_summary() -> None:
    assert parse(SUMMARY) == Transactions(1219.331874, 0)
    assert parse(SUMMARY.replace("transactions: 0 ", "transactions: 7 ")).failed == 7


@pytest.mark.parametrize("line", ["tps = ", "number of failed transactions: "])
def test_a_summary_without_a_figure_is_none(line: str) -> None:
    with pytest.raises(TandemError, match="did not report its rate"):
        parse("\n".join(text for text in SUMMARY.splitlines() if not text.startswith(line)))


def test_every_query_has_its_parameters(real: Catalog, root: Path) -> None:
    folder = root / "contract/sql/queries"
    assert PARAMETERS.keys() == {file.stem for file in folder.glob("*.sql")}
    for name, variables in PARAMETERS.items():
        text = (folder / f"{name}.sql").read_text()
        assert all(f"${n}" in text for n in range(1, len(variables) + 1))
        assert f"${len(variables) + 1}" not in text


def test_a_scenario_becomes_its_statements_in_order(real: Catalog, root: Path) -> None:
    text = script(real.scenarios["recipe"], root / "contract/sql/queries")
    assert text.startswith(
        "\\set asked random(1, 24)\nselect user_id from user_sessions_session where session_key = :key"
    )
    assert text.count("\\gset") == 2
    assert text.count(";\n") == 6
    assert "$" not in text


def test_a_transaction_keeps_its_limits(real: Catalog, root: Path) -> None:
    lines = script(real.scenarios["note-write"], root / "contract/sql/queries").splitlines()
    assert lines.index("begin;") < lines.index("commit;") == len(lines) - 1
