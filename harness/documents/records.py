"""The committed records as the documents read them. No other module here knows how a record is kept on disk."""

from functools import cache
from pathlib import Path
from typing import Any

from tandem.catalog.catalog import Catalog
from tandem.facts.session import read_sessions
from tandem.facts.statement import read_statements
from tandem.record.result import Result
from tandem.record.store import RESULT
from tandem.report.markdown import tables_in
from tandem.studies.registry import read_folder


class Records:
    """The committed results of a repository. Each record is read once. A folder is named as it is below results/."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.read = cache(lambda folder: read_folder(root / "results" / folder))
        """The study of a record, its result and its trials."""
        self.tables = cache(lambda folder: [*tables_in(self.read(folder)[0].report(self.result(folder)))])
        """The tables of a record's report."""
        self.sessions = cache(lambda: read_sessions(root / "results")[0])
        """All that can be read; a test finds those that cannot."""
        self.statements = cache(lambda: read_statements(root))
        self.catalog = cache(lambda: Catalog(root))

    def result(self, folder: str) -> Result[Any]:
        return self.read(folder)[1]

    def below(self, folder: str) -> list[str]:
        """The records in a folder, in order of their names."""
        results = self.root / "results"
        found = (results / folder).glob(f"*/{RESULT}")
        return sorted(file.parent.relative_to(results).as_posix() for file in found)
