"""One folder of measurements is about one set of programs."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tandem.errors import TandemError
from tandem.lab.images import PROGRAMS_FILE, identity, keep_programs


def image(**changes: Any) -> Any:
    """As python_on_whales tells of one."""
    config: dict[str, Any] = {
        "entrypoint": None,
        "cmd": ["start"],
        "env": ["A=1"],
        "working_dir": Path("/"),
        "user": "app",
        "labels": {},
    }
    layers = changes.pop("layers", ["sha256:1", "sha256:2"])
    return SimpleNamespace(
        id="sha256:0", root_fs=SimpleNamespace(layers=layers), config=SimpleNamespace(**{**config, **changes})
    )


def test_the_same_programs_may_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    keep_programs(folder, {"db": "1", "node": "2"})
    keep_programs(folder, {"db": "1", "node": "2"})
    keep_programs(folder, {"node-debug": "3"})
    keep_programs(folder, {"db": "1", "node-debug": "3"})
    assert [path.name for path in folder.iterdir()] == [PROGRAMS_FILE]


def test_another_program_is_refused_and_named(tmp_path: Path) -> None:
    keep_programs(tmp_path, {"db": "1", "node": "2"})
    with pytest.raises(TandemError, match="other programs: node changed since") as raised:
        keep_programs(tmp_path, {"db": "1", "node": "3"})
    assert "without --resume" in str(raised.value)
    keep_programs(tmp_path, {"db": "1", "node": "2"})  # the refused one is not kept


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / PROGRAMS_FILE).write_text('{"db":')
    with pytest.raises(TandemError, match="cannot be read"):
        keep_programs(tmp_path, {"db": "1"})


def test_a_label_is_no_other_program() -> None:
    assert identity(image(labels={"com.docker.compose.project": "tandem"})) == identity(image())


@pytest.mark.parametrize(
    "change", [{"layers": ["sha256:1"]}, {"cmd": ["other"]}, {"env": ["A=2"]}, {"user": "root"}]
)
def test_what_runs_is_the_program(change: dict[str, Any]) -> None:
    assert identity(image(**change)) != identity(image())
