"""The right answers to a study's own data, written by PostgreSQL and by none of the programs."""

from pathlib import Path

import psycopg

from tandem.catalog.golden import Tables, of_bodies
from tandem.errors import TandemError
from tandem.probes.postgres import ADMIN_PASSWORD, dsn


def written(address: str, script: Path) -> Tables:
    """address: of the database, in the seeded state. script: contract/sql/golden.sql. Raises TandemError."""
    results = []
    try:
        with psycopg.connect(dsn(address, ADMIN_PASSWORD), autocommit=True) as connection:
            cursor = connection.execute(script.read_bytes())
            while cursor.nextset():  # the first result is that of a function's creation
                if cursor.description:
                    results.append({int(key): str(body).encode() for key, body in cursor})
    except (psycopg.Error, OSError) as error:
        raise TandemError(f"the right answers cannot be written: {error}") from None
    return of_bodies(results)
