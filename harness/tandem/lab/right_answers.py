"""The right answers to a study's own data, written by PostgreSQL and by none of the programs."""

from collections.abc import Iterable
from pathlib import Path

import psycopg

from tandem.catalog.golden import Tables, of_bodies, recipes_of
from tandem.catalog.scenario import Scenario
from tandem.errors import TandemError
from tandem.probes.postgres import ADMIN_PASSWORD, dsn


def written(address: str, script: Path, scenarios: Iterable[Scenario]) -> Tables:
    """The right answers to what can come in these scenarios. address: of the database, in the seeded state. script:
    contract/sql/golden.sql. Raises TandemError."""
    asked = [recipes_of(one) for one in scenarios if one.answer.golden == "recipes"]
    results = []
    try:
        with psycopg.connect(dsn(address, ADMIN_PASSWORD), autocommit=True) as connection:
            if all(asked):  # one that names none may get any
                ids = ",".join(str(key) for key in {key for keys in asked for key in keys})
                connection.execute("select set_config('tandem.recipes', %s, false)", [f"{{{ids}}}"])
            cursor = connection.execute(script.read_bytes())
            while cursor.nextset():  # the first result is that of a function's creation
                if cursor.description:
                    results.append({int(key): str(body).encode() for key, body in cursor})
    except (psycopg.Error, OSError) as error:
        raise TandemError(f"the right answers cannot be written: {error}") from None
    return of_bodies(results)
