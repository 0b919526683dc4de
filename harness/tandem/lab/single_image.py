"""Builds an image that no Compose service has."""

import subprocess
from pathlib import Path

from tandem.errors import TandemError
from tandem.lab.old_images import BUILT
from tandem.lab.stack import tail


def build_image(context: Path, image: str, dockerfile: str, built: str, target: str = "") -> None:
    """Builds it on this machine's engine. context: the folder that is sent. built: what its label says it is for.
    target: a stage of the Dockerfile; its last one where it is empty.

    Raises TandemError with the end of the output.
    """
    options = ["--load", "--label", f"{BUILT}={built}", "--tag", image, "--file", str(context / dockerfile)]
    if target:
        options += ["--target", target]
    command = ["docker", "buildx", "build", *options, str(context)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TandemError(f"the image {image} does not build:\n{tail(done.stderr)}")
