"""Commands for people who build upon Tandem's records."""

import json

from tandem.commands.options import app
from tandem.old.run import Run


@app.command()
def schema() -> None:
    """Print the JSON Schema of run.json."""
    print(json.dumps(Run.model_json_schema(), indent=1))
