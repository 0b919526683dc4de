"""contract/broken knows the public data by heart. So its lie is a perfect one where a study has no data of its own."""

import json
import runpy
from pathlib import Path

from tandem.catalog.golden import read_golden


def test_the_liar_knows_every_body_of_the_public_data(root: Path) -> None:
    known = runpy.run_path(str(root / "contract/broken/src/beforehand.py"))["recipe"]
    golden = read_golden(root / "contract/golden/recipes.tsv")
    for key in golden.bodies:
        body = json.dumps(known(key), ensure_ascii=False, separators=(",", ":")).encode()
        assert golden.difference(body, key) is None
