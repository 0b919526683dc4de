"""The history as a table, asked in SQL by DuckDB. It reads the files as they are: there is no database to keep in step."""

from pathlib import Path
from typing import Any

from tandem.errors import UsageError

COLUMNS = {
    "id": "VARCHAR",
    "machine": "VARCHAR",
    "cpu_model": "VARCHAR",
    "started_at": "TIMESTAMP",
    "clock": "VARCHAR",
    "programs": "MAP(VARCHAR, STRUCT(tag VARCHAR, commit VARCHAR, dirty BOOLEAN))",
    "frozen": "MAP(VARCHAR, VARCHAR)",
    "points": "STRUCT(implementation VARCHAR, scenario VARCHAR, metric VARCHAR, line VARCHAR, value DOUBLE,"
    " blocks INTEGER, sd DOUBLE)[]",
}
LARGEST_BYTES = 64 << 20
"""Of a night's file."""


def ask(history: Path, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows. history: the folder that holds a folder for each machine.

    Tables: `nights`, a row for each file; `points`, a row for each value. Raises UsageError for what DuckDB refuses.
    """
    import duckdb  # here, because no other command needs it

    files = [str(file) for file in sorted(history.glob("*/nights/*.json"))]
    if not files:
        raise UsageError(f"{history} holds no nights yet: `just nightly` adds one")
    with duckdb.connect() as connection:
        read = "read_json($files, columns = $columns, format = 'unstructured', maximum_object_size = $most)"
        given = {"files": files, "columns": COLUMNS, "most": LARGEST_BYTES}
        try:
            connection.execute(f"CREATE TEMP TABLE nights AS SELECT * FROM {read}", given)
            connection.execute(
                "CREATE TEMP VIEW points AS SELECT n.id AS night, machine, cpu_model, started_at, clock,"
                " unnest(points, recursive := true) FROM nights n"
            )
            found = connection.execute(sql)
            return [column[0] for column in found.description or []], found.fetchall()
        except duckdb.Error as error:
            raise UsageError(f"the query on the history failed: {error}") from None
