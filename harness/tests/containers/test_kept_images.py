"""tandem.lab.images: an image of an old commit, and a frozen one that is missing, from a real repository of three commits."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness_commands import ONE_TRIAL, TANDEM, run, words
from python_on_whales import DockerClient

from tandem.errors import TandemError
from tandem.history.night import Program
from tandem.lab import images

pytestmark = [pytest.mark.docker, pytest.mark.timeout(120)]
NAME, TAG = "test-kept", "0123456789ab"
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=abcdef0")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run([*GIT, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def label(tag: str) -> str:
    """Which of the commits an image is of."""
    image = DockerClient().image.inspect(images.reference(NAME, tag))
    return (image.config.labels or {})["is"]


@pytest.fixture
def commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A repository's three: the third does not build. What a test leaves of the images goes."""
    monkeypatch.setenv(images.SWITCH, "build")
    git(tmp_path, "init", "-q")
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "Dockerfile.dockerignore").write_text(f"*\n!{NAME}/file\n")
    found = []
    for file, content in (("file", "one"), ("file", "two"), ("nosuch", "three")):
        (tmp_path / NAME / "file").write_text(content)
        (tmp_path / NAME / "Dockerfile").write_text(
            f"FROM scratch\nCOPY {NAME}/{file} /\nLABEL is={content}\n"
        )
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-q", "-m", content)
        found.append(git(tmp_path, "rev-parse", "HEAD"))
    yield found
    names = [images.reference(NAME, tag) for tag in (TAG, found[0], found[0][:7])]
    subprocess.run(["docker", "image", "rm", "--force", *names], capture_output=True, check=False)


# ---- a commit's ----


def test_it_is_built_from_the_sources_of_then(tmp_path: Path, commits: list[str]) -> None:
    for tag in (commits[0], commits[0][:7]):
        assert images.of_commit(tmp_path, NAME, tag)
        assert label(tag) == "one"


@pytest.mark.parametrize("tag", ["before", "abcdef0", "0" * 40, "HEAD"])
def test_what_is_no_hash_of_a_commit_is_not_built(tmp_path: Path, commits: list[str], tag: str) -> None:
    """A branch may be called as a hash looks."""
    assert git(tmp_path, "branch", "--show-current") == "abcdef0"
    assert not images.of_commit(tmp_path, NAME, tag)
    assert not images.present(NAME, tag)


def test_one_that_does_not_build_is_told(tmp_path: Path, commits: list[str]) -> None:
    with pytest.raises(TandemError, match="does not build from"):
        images.of_commit(tmp_path, NAME, commits[2][:9])


def test_a_comparison_says_what_it_does_not_have(kept: Path) -> None:
    done = run(*TANDEM, "compare", "rust-async@0000000", "--plan", ONE_TRIAL, TANDEM_RESULTS=str(kept))
    assert done.returncode == 1
    said = words(done.stderr)
    assert "this machine has no image tandem/rust-async:0000000, and this clone has no commit 0000000" in said


# ---- a frozen one that is missing ----


@pytest.mark.parametrize("which", [0, 1])
def test_a_frozen_one_is_built_from_its_commit_whatever_the_folder_has_now(
    tmp_path: Path, commits: list[str], which: int
) -> None:
    assert not images.present(NAME, TAG)
    images.rebuild(tmp_path, NAME, Program(tag=TAG, commit=commits[which]))
    assert images.present(NAME, TAG)
    assert label(TAG) == ("one", "two")[which]


def test_a_commit_on_todays_base_is_an_image_of_its_own(tmp_path: Path, commits: list[str]) -> None:
    """The frozen one stays under its tag."""
    images.rebuild(tmp_path, NAME, Program(tag=TAG, commit=commits[1]))
    again = images.on_todays_base(tmp_path, NAME, Program(tag=TAG, commit=commits[0]))
    assert (label(again.tag), label(TAG)) == ("one", "two")
    assert again.commit == commits[0]
    assert again.base is not None
    assert images.as_here(NAME, again) == again
    assert not images.present(NAME, f"{TAG}-again")
    DockerClient().image.remove(images.reference(NAME, again.tag))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"commit": None}, "no commit has its sources"),
        ({"dirty": True}, "no commit has its sources"),
        ({"commit": "0" * 40}, "does not have its commit"),
        ({"which": 2}, "does not build from"),
    ],
)
def test_what_cannot_be_built_is_refused(
    tmp_path: Path, commits: list[str], changes: dict[str, object], told: str
) -> None:
    which = changes.pop("which", 0)
    assert isinstance(which, int)
    program = Program(tag=TAG, commit=commits[which]).model_copy(update=changes)
    with pytest.raises(TandemError, match=told) as refused:
        images.rebuild(tmp_path, NAME, program)
    assert "add --freeze" in str(refused.value)
    assert not images.present(NAME, TAG)
