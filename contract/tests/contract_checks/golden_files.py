"""The golden files, computed from the seeded database by contract/sql/golden.sql.

`python contract/tests/contract_checks/golden_files.py` writes them anew, after a change of the seed or
of the canonical form; look at the difference before you commit it.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from contract_checks.catalog import CONTRACT
from contract_checks.golden import FOLDER, digest
from contract_checks.stack import Stack

# In full: a user's first two recipes, the first of a team, and the first of another user.
FULL = (1, 2, 26, 51)


def bodies(stack: Stack, database: str = "tandem") -> list[dict[int, bytes]]:
    """Right answers as the database itself writes them: of recipes, and of dashboards."""
    script = (CONTRACT / "sql" / "golden.sql").read_bytes()
    with stack.connect(database) as connection:
        cursor = connection.execute(script)
        results = []  # the script's functions give none
        while cursor.nextset():
            if cursor.description:
                results.append({int(key): str(body).encode() for key, body in cursor.fetchall()})
    return results


def compute(stack: Stack) -> dict[str, bytes]:
    """The files as they should be: name -> content."""
    recipes, dashboards = bodies(stack)
    return {
        "recipes.tsv": _table(recipes),
        "dashboards.tsv": _table(dashboards),
        "dashboard-1.json": dashboards[1],
        **{f"recipe-{key}.json": recipes[key] for key in FULL},
    }


def _table(bodies: dict[int, bytes]) -> bytes:
    lines = ["\t".join(map(str, (key, *digest(body)))) for key, body in bodies.items()]
    return "\n".join(["id\tbytes\tsha256", *lines, ""]).encode()


def stale(stack: Stack) -> list[str]:
    """Names of the committed files that are not what the database says, or are too many or too few."""
    committed = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    del committed["index.html"]  # written by hand
    return sorted({name for name, _ in compute(stack).items() ^ committed.items()})


if __name__ == "__main__":
    with Stack("tandem-golden") as stack:
        for name, content in compute(stack).items():
            (FOLDER / name).write_bytes(content)
            print(f"wrote contract/golden/{name}")
