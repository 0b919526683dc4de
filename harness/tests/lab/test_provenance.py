"""tandem.lab.provenance and images: hashes of what decides a run, and that one folder of measurements is about one set of
programs."""

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tandem.errors import TandemError
from tandem.lab.images import PROGRAMS_FILE, identity, keep_programs
from tandem.lab.provenance import LOCKS, TREES, hashes
from tandem.lab.sources import has_changes


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        *("contract/a.sql", "contract/tests/b.py", "common/python/src/a.py", "common/rust/src/a.rs"),
        *("rust-async/Cargo.lock", "node/package-lock.json"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def test_every_lock_file_and_tree_of_this_repository_has_a_hash(root: Path) -> None:
    found = hashes(root)
    locks = {f.relative_to(root).as_posix() for name in LOCKS for f in root.glob(f"*/{name}")}
    assert locks >= {
        "rust-async/Cargo.lock",
        "python-sync/uv.lock",
        "node/package-lock.json",
        "harness/uv.lock",
    }
    assert locks | {f"{tree}/" for tree in TREES} <= found.keys()
    assert {len(value) for value in found.values()} == {64}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ("contract/tests/b.py", {"contract/"}),
        ("contract/a.sql", {"contract/"}),
        ("rust-async/Cargo.lock", {"rust-async/Cargo.lock"}),
        ("common/python/src/a.py", {"common/python/"}),
        # What tools leave behind changes nothing.
        ("contract/__pycache__/a.pyc", set()),
        ("contract/tests/.pytest_cache/x", set()),
    ],
)
def test_a_changed_byte_changes_one_hash(tree: Path, changed: str, named: set[str]) -> None:
    before = hashes(tree)
    (tree / changed).parent.mkdir(parents=True, exist_ok=True)
    (tree / changed).write_text("other")
    after = hashes(tree)
    assert {name for name in before if before[name] != after[name]} == named


def test_a_renamed_file_changes_the_hash(tree: Path) -> None:
    before = hashes(tree)
    (tree / "contract/a.sql").rename(tree / "contract/c.sql")
    assert hashes(tree)["contract/"] != before["contract/"]


def test_results_are_no_change_of_the_sources(tree: Path) -> None:
    assert has_changes(tree) is None, "no repository"
    own = ("git", "-C", str(tree), "-c", "user.name=t", "-c", "user.email=t@t")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        subprocess.run([*own, *command], check=True)
    (tree / "results").mkdir()
    (tree / "results/result.json").write_text("{}")
    assert has_changes(tree) is False
    (tree / "contract/a.sql").write_text("other")
    assert has_changes(tree) is True, "the control"


# ---- programs ----


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


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"labels": {"com.docker.compose.project": "tandem"}}, True),
        ({"layers": ["sha256:1"]}, False),
        ({"cmd": ["other"]}, False),
        ({"env": ["A=2"]}, False),
        ({"user": "root"}, False),
    ],
)
def test_what_runs_is_the_program(change: dict[str, Any], same: bool) -> None:
    assert (identity(image(**change)) == identity(image())) is same


def test_a_folder_goes_on_with_the_same_programs_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    for programs in ({"db": "1", "node": "2"}, {"node-debug": "3"}, {"db": "1", "node-debug": "3"}):
        keep_programs(folder, programs)
    assert [path.name for path in folder.iterdir()] == [PROGRAMS_FILE]
    with pytest.raises(TandemError, match=r"other programs: node changed since[^$]*without --resume"):
        keep_programs(folder, {"db": "1", "node": "3"})
    keep_programs(folder, {"db": "1", "node": "2"})  # the refused one is not kept
    (folder / PROGRAMS_FILE).write_text('{"db":')
    with pytest.raises(TandemError, match="cannot be read"):
        keep_programs(folder, {"db": "1"})
