"""Makes the folder of a new implementation: a stub that takes part at once, with everything declared off."""

import re
from pathlib import Path
from string import Template

from tandem.catalog.catalog import Catalog
from tandem.errors import UsageError
from tandem.record.store import give

TEMPLATE = Path(__file__).parent / "template"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""It is the name of an image, of a container and of a folder."""
LONGEST = 40
WORKS = {"PORT"}
"""Settings that the stub has."""


def make(root: Path, name: str, model: str, language: str) -> list[Path]:
    """Writes the folder; returns its files. Raises UsageError, and then nothing was written."""
    if not NAME.fullmatch(name) or len(name) > LONGEST:
        raise UsageError(
            f"'{name}' is not a valid name: use words of lower-case letters and digits, joined by hyphens, at most"
            f" {LONGEST} characters, such as go-async"
        )
    if (root / name).exists():
        raise UsageError(f"{name} exists: take another name, or work on that folder")
    if not re.fullmatch(r"[a-z][a-z0-9+#.-]*", language):
        raise UsageError(
            f"'{language}' is not a valid language: use one word in lower-case letters, such as go"
        )
    catalog = Catalog(root)
    off = [setting for setting in catalog.settings if setting not in WORKS]
    values = {
        "name": name,
        "title": f"{name.replace('-', ' ').capitalize()}",
        "model": model,
        "language": language,
        "settings": "".join(f'{setting} = "not written yet"\n' for setting in off),
        "scenarios": "".join(f'{scenario} = "not written yet"\n' for scenario in catalog.scenarios),
    }
    made = []
    for source in sorted(file for file in TEMPLATE.rglob("*") if file.is_file() and file.suffix != ".pyc"):
        file = root / name / source.relative_to(TEMPLATE)
        file.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text()
        file.write_text(text if source.suffix == ".py" else Template(text).substitute(values))
        made.append(file)
    give(root / name, root)
    return made
