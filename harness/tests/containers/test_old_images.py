"""tandem.lab.images, with real images: one that is ours and untagged, one that has a tag, one of somebody else."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tandem.lab import images

pytestmark = [pytest.mark.docker, pytest.mark.timeout(120)]


def build(folder: Path, *flags: str) -> str:
    done = subprocess.run(
        ["docker", "buildx", "build", "--quiet", "--load", *flags, str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def three(tmp_path: Path) -> Iterator[tuple[str, str, str]]:
    (tmp_path / "Dockerfile").write_text(f"FROM scratch\nCOPY Dockerfile /\nLABEL test={tmp_path.name}\n")
    ours = ["--label", f"{images.BUILT}=test"]
    made = (
        build(tmp_path, *ours),
        build(tmp_path, *ours, "--label", "x=1", "--tag", "tandem/test-old-images"),
        build(tmp_path, "--label", "x=2"),
    )
    yield made
    subprocess.run(["docker", "image", "rm", *made], capture_output=True, check=False)


def test_only_what_is_ours_and_has_no_tag_is_removed(three: tuple[str, str, str]) -> None:
    untagged, tagged, foreign = three
    found = [image for image in images.untagged() if image.id in three]
    assert [image.id for image in found] == [untagged]
    assert images.held(found).startswith("1 untagged images")
    assert images.remove(found) == 1
    left = subprocess.run(
        ["docker", "image", "ls", "-aq", "--no-trunc"], capture_output=True, text=True, check=True
    )
    assert {untagged, tagged, foreign} & set(left.stdout.split()) == {tagged, foreign}


def test_one_that_is_in_use_stays(three: tuple[str, str, str]) -> None:
    untagged, _, _ = three
    created = subprocess.run(["docker", "create", untagged, "x"], capture_output=True, text=True, check=True)
    try:
        assert images.remove([image for image in images.untagged() if image.id == untagged]) == 0
    finally:
        subprocess.run(["docker", "rm", created.stdout.strip()], capture_output=True, check=True)
