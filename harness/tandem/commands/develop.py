"""Commands for people who build upon Tandem's records."""

from tandem.cli.options import app, print_json
from tandem.studies.registry import json_schema


@app.command()
def schema() -> None:
    """Print the JSON Schema of result.json and of the trial files, for every study."""
    print_json(json_schema())
