"""Commands for people who build upon Tandem's records."""

import json

from tandem.cli.options import app
from tandem.studies.registry import json_schema


@app.command()
def schema() -> None:
    """Print the JSON Schema of result.json and of the trial files, for every study."""
    print(json.dumps(json_schema(), indent=1))
