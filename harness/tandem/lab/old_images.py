"""Images of earlier builds: each build that changes something leaves the one before without a tag."""

from contextlib import suppress

from python_on_whales import DockerClient, DockerException, Image

from tandem.lab.stack import LABEL

BUILT = f"{LABEL}.built"
"""Label of every image that is built here, and of no other."""


def untagged() -> list[Image]:
    """Those of ours that no tag leads to. Raises DockerException where the engine does not answer."""
    return DockerClient().image.list(filters=[("dangling", "true"), ("label", BUILT)])


def held(images: list[Image]) -> str:
    """How many they are and how much space they hold; what several share is held once."""
    return f"{len(images)} untagged images, up to {sum(image.size for image in images) / 1e9:.1f} GB"


def remove(images: list[Image]) -> int:
    """Removes those that no container uses; returns how many."""
    removed = 0
    for image in images:
        with suppress(DockerException):
            image.remove()
            removed += 1
    return removed
