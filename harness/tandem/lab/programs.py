"""The programs that a session measures. They are kept in its folder: --resume must go on with the same ones."""

import json
from hashlib import sha256
from pathlib import Path

from python_on_whales import Image

from tandem.errors import TandemError
from tandem.record.store import write_atomically

FILE = "programs.json"


def identity(image: Image) -> str:
    """Tells what an image runs from anything else: a digest of its files and of how they are started. Its id would not
    do: Compose labels an image with the project that built it last."""
    config = image.config
    started = [config.entrypoint, config.cmd, config.env, str(config.working_dir), config.user]
    return sha256(json.dumps([image.root_fs.layers, *started]).encode()).hexdigest()


def keep(folder: Path, found: dict[str, str]) -> None:
    """Keeps which programs a folder's measurements are of, or compares with what was kept.

    found: name of an image -> its identity. Raises TandemError for one that
    is not the one that the folder was begun with, or where the file cannot be read.
    """
    file = folder / FILE
    try:
        kept: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    except (ValueError, OSError) as error:
        raise TandemError(f"{file} cannot be read: {error}. Start again, without --resume.") from None
    changed = sorted(name for name in found if kept.get(name, found[name]) != found[name])
    if changed:
        raise TandemError(
            f"{folder.name} was started with other programs: {', '.join(changed)} changed since, or was rebuilt"
            " from scratch. One result must not mix two: start again, without --resume, or restore those sources."
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps({**kept, **found}, indent=1, sort_keys=True) + "\n")
