"""Commands for people who build upon Tandem's records."""

import json

from tandem.cli.options import app
from tandem.studies.registry import json_schema


@app.command()
def schema() -> None:
    """Print the JSON Schema of result.json, of every study, and of the files of its trials."""
    print(json.dumps(json_schema(), indent=1))
