"""tandem.lab.kept_images: a frozen image that is missing is built from its commit, or refused with the remedy."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from python_on_whales import DockerClient

from tandem.errors import TandemError
from tandem.history.night import Program
from tandem.lab import kept_images, published

pytestmark = [pytest.mark.docker, pytest.mark.timeout(120)]
NAME, TAG = "test-rebuilt", "0123456789ab"
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run([*GIT, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A repository's three: the third does not build. What a test leaves of the image goes."""
    monkeypatch.setenv(published.SWITCH, "build")
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
    subprocess.run(
        ["docker", "image", "rm", "--force", kept_images.reference(NAME, TAG)],
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("which", [0, 1])
def test_it_is_built_from_its_commit_whatever_the_folder_has_now(
    tmp_path: Path, commits: list[str], which: int
) -> None:
    assert not kept_images.present(NAME, TAG)
    kept_images.rebuild(tmp_path, NAME, Program(tag=TAG, commit=commits[which]))
    assert kept_images.present(NAME, TAG)
    image = DockerClient().image.inspect(kept_images.reference(NAME, TAG))
    assert (image.config.labels or {})["is"] == ("one", "two")[which]


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
        kept_images.rebuild(tmp_path, NAME, program)
    assert f"just nightly {NAME} --freeze" in str(refused.value)
    assert not kept_images.present(NAME, TAG)
