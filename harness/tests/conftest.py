"""What all tests of the harness share."""

import os
import sys
from pathlib import Path

import pytest

from tandem.catalog import Catalog

# The helpers are modules beside this file (harness_*.py); this works under every import mode.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(os.environ.get("TANDEM_ROOT", Path(__file__).resolve().parents[2]))


@pytest.fixture(scope="session")
def real(root: Path) -> Catalog:
    """What the repository itself has."""
    return Catalog(root)


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """Output of real tools: oha 1.16, HAProxy 3.0."""
    return Path(__file__).parent / "fixtures"
