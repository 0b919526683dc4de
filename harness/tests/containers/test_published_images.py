"""tandem.lab.images, with a registry of our own on loopback: what is taken, what is built, what is refused."""

import io
import re
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from python_on_whales import DockerClient

from tandem.errors import TandemError
from tandem.lab import images
from tandem.lab.images import identity
from tandem.lab.stack import Stack

pytestmark = [pytest.mark.docker, pytest.mark.timeout(240)]
IMAGE = "tandem/test-published"
REGISTRY = "harness/tests/registry/Dockerfile"


def docker(*arguments: str | Path) -> str:
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def remove(image: str) -> None:
    """Whatever leads to it: the digest of a registry, too."""
    if DockerClient().image.exists(image):
        docker("image", "rm", "--force", docker("image", "inspect", "--format", "{{.Id}}", image))


@pytest.fixture(scope="module")
def registry(root: Path) -> Iterator[str]:
    """The folder that images are published to."""
    built = ("--label", "dev.tandem.built=test", "--tag", "tandem/test-registry")
    docker("buildx", "build", "--quiet", "--load", *built, "--file", root / REGISTRY, root)
    container = docker("run", "--detach", "--publish", "127.0.0.1::5000", "tandem/test-registry")
    try:
        address = docker("port", container, "5000/tcp").splitlines()[0]
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                httpx.get(f"http://{address}/v2/").raise_for_status()
                break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield f"{address}/tandem"
    finally:
        docker("rm", "--force", "--volumes", container)


@pytest.fixture
def sources(tmp_path: Path) -> Iterator[Path]:
    """A folder with one image's sources; what the test leaves of the image goes."""
    (tmp_path / "Dockerfile").write_text(f"FROM scratch\nCOPY one /\nLABEL test={tmp_path.name}\n")
    (tmp_path / "Dockerfile.dockerignore").write_text("*\n!one\n")
    (tmp_path / "one").mkdir()
    (tmp_path / "one/file").write_text(tmp_path.name)
    yield tmp_path
    remove(IMAGE)


def publish(root: Path, registry: str, dockerfile: str, name: str, said: str | None = None) -> str:
    """As .github/workflows/images.yml does. said: the content on its label. Returns its content."""
    content = images.content(root, dockerfile)
    place = f"{registry}/{name}:{content}"
    labels = ("--label", "dev.tandem.built=test", "--label", f"{images.CONTENT}={said or content}")
    docker("buildx", "build", "--quiet", "--load", *labels, "--tag", place, "--file", root / dockerfile, root)
    docker("push", "--quiet", place)
    docker("image", "rm", place)
    return content


def test_the_same_content_is_taken_and_another_is_not(registry: str, sources: Path) -> None:
    content = publish(sources, registry, "Dockerfile", "test-published")
    there = DockerClient().image.exists
    assert not there(IMAGE)
    origin = images.take(IMAGE, content, registry)
    assert origin is not None
    assert re.fullmatch(rf"{re.escape(registry)}/test-published@sha256:[0-9a-f]{{64}}", origin)
    assert images.origins({"app": IMAGE}) == {"app": origin}
    (sources / "one/file").write_text("changed")
    changed = images.content(sources, "Dockerfile")
    assert changed != content
    assert images.take(IMAGE, changed, registry) is None


def test_what_is_there_is_not_fetched_again(registry: str, sources: Path) -> None:
    content = publish(sources, registry, "Dockerfile", "test-published")
    origin = images.take(IMAGE, content, registry)
    assert origin is not None
    nobody = "127.0.0.1:9/tandem"
    assert images.take(IMAGE, content, nobody) == origin, "nothing was asked"
    remove(IMAGE)
    assert images.take(IMAGE, content, nobody) is None, "no registry answers: it is built"


def test_an_image_that_is_made_of_something_else_is_refused(registry: str, sources: Path) -> None:
    content = publish(sources, registry, "Dockerfile", "test-published", said="0" * 20)
    with pytest.raises(TandemError, match=f"says that it is made of {'0' * 20}, so it is not used"):
        images.take(IMAGE, content, registry)
    assert not DockerClient().image.exists(IMAGE)
    left = docker("image", "ls", "--digests", "--format", "{{.Repository}}")
    assert f"{registry}/test-published" not in left.splitlines()


def test_an_image_without_a_label_was_built_here(sources: Path) -> None:
    docker("buildx", "build", "--quiet", "--load", "--tag", IMAGE, sources)
    assert images.origins({"app": IMAGE}) == {}


def test_a_service_is_taken_or_built_by_the_switch(
    registry: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name and the Dockerfile are those that Compose builds by."""
    implementation, variant = "harness/tests/dying", "-published"
    image = f"tandem/{implementation}{variant}"
    stack = Stack(root, "tandem-test", {"IMPL": implementation, "VARIANT": variant}, tmp_path / "env")
    monkeypatch.setenv(images.SWITCH, "build")
    try:
        assert images.build(stack, "app") is None
        program = identity(stack.image("app"))
        publish(root, registry, f"{implementation}/Dockerfile", f"{implementation}{variant}")
        monkeypatch.setenv(images.SWITCH, registry)
        origin = images.build(stack, "app")
        assert origin is not None
        assert origin.startswith(f"{registry}/{implementation}{variant}@sha256:")
        assert images.origin(stack.image("app")) == origin
        assert identity(stack.image("app")) == program, "the layers came from the same cache"
        remove(image)
        monkeypatch.setenv(images.SWITCH, "build")
        assert images.build(stack, "app") is None
        assert images.origin(stack.image("app")) is None
    finally:
        remove(image)


@pytest.mark.parametrize("name", ["node", "python-sync", "rust-async", "compose/proxy"])
def test_the_content_covers_what_docker_is_sent(root: Path, tmp_path: Path, name: str) -> None:
    """Docker itself says which files its ignore file lets in."""
    dockerfile = tmp_path / "Dockerfile"
    dockerfile.write_text("FROM scratch\nCOPY . /\n")
    ignored = (root / name / "Dockerfile.dockerignore").read_text()
    (tmp_path / "Dockerfile.dockerignore").write_text(ignored)
    command: list[str | Path] = [
        *("docker", "buildx", "build", "--quiet", "--output", "type=tar,dest=-", "--file"),
        dockerfile,
        root,
    ]
    done = subprocess.run(command, capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        sent = {member.name for member in archive if not member.isdir()}
    own = f"{name}/Dockerfile"
    assert {*images.context(root, own)} - {own} == sent - {own}
