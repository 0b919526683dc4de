"""documents.services, asking Debian's archive."""

import json
from pathlib import Path

import pytest

from documents.services import FILE, RELEASES, ask

pytestmark = [pytest.mark.docker, pytest.mark.weekly]


@pytest.mark.parametrize("release", RELEASES)
def test_the_committed_table_is_what_debians_archive_has(root: Path, release: str) -> None:
    """If not: `python3 -m documents.services`, and read whether what came new concerns us."""
    assert json.loads((root / FILE).read_text())[release] == ask(release)
