"""tandem.lab.kept_images: an image of an old commit, from a real repository of two commits."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness_commands import ONE_TRIAL, TANDEM, run

from tandem.errors import TandemError
from tandem.lab import kept_images

pytestmark = [pytest.mark.docker, pytest.mark.timeout(120)]

NAME = "test-of-commit"


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    command = ["git", "-C", str(root), *who, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit(root: Path, dockerfile: str) -> str:
    """The hash of a commit with this Dockerfile."""
    (root / NAME).mkdir(exist_ok=True)
    (root / NAME / "Dockerfile").write_text(dockerfile)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "one")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[tuple[Path, str, str]]:
    """With the hashes of a commit that builds and a later one that does not."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "abcdef0")
    old = commit(tmp_path, "FROM scratch\nCOPY . /\nLABEL age=old\n")
    new = commit(tmp_path, "FROM scratch\nCOPY nothing /\n")
    yield tmp_path, old, new
    for tag in (old, old[:7]):
        name = kept_images.reference(NAME, tag)
        subprocess.run(["docker", "image", "rm", "--force", name], capture_output=True, check=False)


def test_it_is_built_from_the_sources_of_then(repository: tuple[Path, str, str]) -> None:
    root, old, _ = repository
    for tag in (old, old[:7]):
        assert kept_images.of_commit(root, NAME, tag)
        name = kept_images.reference(NAME, tag)
        label = ["docker", "image", "inspect", "--format", "{{.Config.Labels.age}}", name]
        assert subprocess.run(label, capture_output=True, text=True, check=True).stdout.strip() == "old"


@pytest.mark.parametrize("tag", ["before", "abcdef0", "0" * 40, "HEAD"])
def test_what_is_no_hash_of_a_commit_is_not_built(repository: tuple[Path, str, str], tag: str) -> None:
    """A branch may be called as a hash looks."""
    root, _, _ = repository
    assert not kept_images.of_commit(root, NAME, tag)
    assert not kept_images.present(NAME, tag)


def test_one_that_does_not_build_is_told(repository: tuple[Path, str, str]) -> None:
    root, _, new = repository
    with pytest.raises(TandemError, match="does not build from"):
        kept_images.of_commit(root, NAME, new[:9])


def test_a_comparison_says_what_it_does_not_have(kept: Path) -> None:
    done = run(*TANDEM, "compare", "rust-async@0000000", "--plan", ONE_TRIAL, TANDEM_RESULTS=str(kept))
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert "this machine has no image tandem/rust-async:0000000, and this clone has no commit 0000000" in said
