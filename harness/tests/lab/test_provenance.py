"""tandem.lab.provenance: hashes of what decides a run. The rest needs a running stack: test_end_to_end."""

import subprocess
from pathlib import Path

import pytest

from tandem.lab.provenance import LOCKS, TREES, hashes
from tandem.lab.sources import has_changes


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("contract/a.sql", "contract/tests/b.py", "rust-async/Cargo.lock", "node/package-lock.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def test_every_lock_file_and_tree_of_this_repository_has_a_hash(root: Path) -> None:
    found = hashes(root)
    assert {f"{tree}/" for tree in TREES} <= found.keys()
    locks = {f.relative_to(root).as_posix() for name in LOCKS for f in root.glob(f"*/{name}")}
    assert {
        "rust-async/Cargo.lock",
        "python-sync/uv.lock",
        "node/package-lock.json",
        "harness/uv.lock",
    } <= locks
    assert locks <= found.keys()
    assert {len(value) for value in found.values()} == {64}


def test_a_changed_byte_changes_one_hash(tree: Path) -> None:
    before = hashes(tree)
    (tree / "contract/tests/b.py").write_text("other")
    after = hashes(tree)
    assert {name for name in before if before[name] != after[name]} == {"contract/"}
    (tree / "rust-async/Cargo.lock").write_text("other")
    assert {name for name in before if after[name] != hashes(tree)[name]} == {"rust-async/Cargo.lock"}


def test_a_change_in_what_implementations_share_changes_the_hash_of_their_language(tree: Path) -> None:
    for name in ("common/python/src/a.py", "common/rust/src/a.rs"):
        (tree / name).parent.mkdir(parents=True)
        (tree / name).write_text(name)
    before = hashes(tree)
    (tree / "common/python/src/a.py").write_text("other")
    after = hashes(tree)
    assert {name for name in before if before[name] != after[name]} == {"common/python/"}


def test_a_renamed_file_changes_the_hash(tree: Path) -> None:
    before = hashes(tree)
    (tree / "contract/a.sql").rename(tree / "contract/c.sql")
    assert hashes(tree)["contract/"] != before["contract/"]


def test_what_tools_leave_behind_changes_nothing(tree: Path) -> None:
    before = hashes(tree)
    for name in ("contract/__pycache__/a.pyc", "contract/tests/.pytest_cache/x"):
        (tree / name).parent.mkdir(parents=True)
        (tree / name).write_text("x")
    assert hashes(tree) == before


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
