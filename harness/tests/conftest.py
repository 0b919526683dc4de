"""What all tests of the harness share."""

import gc
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings

from tandem.catalog.catalog import Catalog
from tandem.page import site as page
from tandem.record import store

# The helpers are modules beside this file (harness_*.py); this works under every import mode.
sys.path.insert(0, str(Path(__file__).parent))

from harness_places import FIXTURES, ROOT

# How long an example takes depends on what else runs on the machine.
settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")

# Records are many objects, and few are garbage: looking for it took a tenth of the time.
gc.set_threshold(20_000, 50)


def pytest_collection_finish() -> None:
    """What is imported by now stays."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests run on any disk."""
    monkeypatch.setattr(store, "NEEDED_BYTES", 1)


@pytest.fixture(autouse=True)
def _results_alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sites are built without the documents and the drawing code, which are the same in all and take seconds: whoever looks at
    them asks for `site`, which has them."""
    if "site" not in request.fixturenames:
        monkeypatch.setattr(page.Site, "write_documents", lambda _: None)
        monkeypatch.setattr(page, "bundle", lambda: "const vega = {};")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def real(root: Path) -> Catalog:
    """What the repository itself has."""
    return Catalog(root)


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """Output of real tools: oha 1.16, HAProxy 3.0."""
    return FIXTURES


@contextmanager
def _folder(root: Path) -> Iterator[Path]:
    folder = root / "results" / f".test-{os.getpid()}-{time.time_ns()}"
    folder.mkdir(parents=True)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def results(root: Path) -> Iterator[Path]:
    """A folder for results that the engine's host sees too, because it is inside the repository."""
    with _folder(root) as folder:
        yield folder


@pytest.fixture(scope="module")
def kept(root: Path) -> Iterator[Path]:
    """The same for all tests of a file."""
    with _folder(root) as folder:
        yield folder
