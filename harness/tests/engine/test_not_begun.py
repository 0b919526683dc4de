"""tandem.engine.run: a study that could not begin leaves nothing behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness_samples import good_window
from harness_trials import Place, request

from tandem.catalog.catalog import Catalog
from tandem.engine.run import run
from tandem.errors import TandemError, UsageError
from tandem.studies.bench.study import Bench


class Refusing(Place):
    """A laboratory that refuses: before the first trial, or at its end."""

    def __init__(self, early: TandemError | None, late: TandemError | None) -> None:
        super().__init__(lambda _, spec: good_window(spec.load))
        self.early, self.late = early, late

    @contextmanager
    def up(self) -> Iterator[None]:
        if self.early:
            raise self.early
        yield
        if self.late:
            raise self.late


@pytest.mark.parametrize("error", [UsageError("it does not fit"), TandemError("the image does not build")])
def test_what_could_not_begin_leaves_no_folder(real: Catalog, tmp_path: Path, error: TandemError) -> None:
    with pytest.raises(type(error), match=str(error)):
        run(
            Bench, request("bench", "rust-async", plan="smoke"), Refusing(error, None).session(real, tmp_path)
        )
    assert list(tmp_path.iterdir()) == []


def test_what_was_made_is_kept(real: Catalog, tmp_path: Path) -> None:
    late = Refusing(None, TandemError("the stack cannot be removed"))
    with pytest.raises(TandemError, match="cannot be removed"):
        run(Bench, request("bench", "rust-async", plan="smoke"), late.session(real, tmp_path))
    assert len(list(tmp_path.glob("*/trials/*.json"))) == real.plans["smoke"].trials
