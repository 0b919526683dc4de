"""The load generators that a window spec can name."""

from tandem.load.generator import OHA, Generator
from tandem.load.vegeta import VEGETA

GENERATORS: dict[str, Generator] = {generator.name: generator for generator in (OHA, VEGETA)}
"""pgbench is none of them: it asks the database and no application (tandem.lab.pgbench)."""
