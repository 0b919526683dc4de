"""The load generators that a window spec can name."""

from tandem.load.drill import DRILL
from tandem.load.generator import OHA, Generator
from tandem.load.vegeta import VEGETA
from tandem.load.wrk import WRK

GENERATORS: dict[str, Generator] = {generator.name: generator for generator in (OHA, VEGETA, WRK, DRILL)}
"""The generators by name, without pgbench: it asks the database and no application (tandem.lab.pgbench)."""
