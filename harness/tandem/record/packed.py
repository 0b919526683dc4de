"""The committed form of a study's folder: its result and its trials, each in one file. All else goes into an archive elsewhere.

The archive is a tar file in a fixed form, so the SHA-256 in the result can be checked however the files are brought back.
"""

import gzip
import json
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from io import BufferedRandom
from pathlib import Path
from typing import IO

from pydantic_core import to_json

from tandem.errors import TandemError
from tandem.record.result import Environment, RawFiles, per_variant, shared_once
from tandem.record.store import PACKED, RESULT, TRIALS, pack_trials, read_trials, write_atomically


def raw_files(folder: Path) -> list[Path]:
    """The files of a study that its committed form is without, in order of their names."""
    files = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    return sorted(file for file in files if file.parts[0] not in (RESULT, TRIALS, PACKED))


def archive_name(identity: str) -> str:
    """Of the archive of a result. identity: its id."""
    return f"{identity}.raw.tar.gz"


@contextmanager
def _tar(folder: Path, beside: Path) -> Iterator[BufferedRandom]:
    """The raw files of a folder as a tar archive in a fixed form. beside: where there is room for it."""
    with tempfile.TemporaryFile(dir=beside) as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for name in raw_files(folder):
                entry = tarfile.TarInfo(name.as_posix())
                entry.size = (folder / name).stat().st_size
                with (folder / name).open("rb") as stream:
                    tar.addfile(entry, stream)
        file.seek(0)
        yield file


def _archive(folder: Path, file: Path) -> str:
    """Writes the raw files of a folder into an archive; returns its SHA-256 before compression."""
    with _tar(folder, file.parent) as tar, file.open("wb") as stream:
        found = file_digest(tar, "sha256").hexdigest()
        tar.seek(0)
        with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=stream, mtime=0) as compressed:
            shutil.copyfileobj(tar, compressed)
    return found


def pack(folder: Path, into: Path, archives: Path, commit: str | None = None) -> None:
    """Writes the committed form of a finished study into a new folder, and an archive of its raw files, if it has any.

    archives: the folder of the archive. commit: one that has the raw files. Raises TandemError, naming the file, where a
    trial cannot be read.
    """
    trials = read_trials(folder)
    result = json.loads((folder / RESULT).read_text())
    if result.get("raw") is None and raw_files(folder):
        archives.mkdir(parents=True, exist_ok=True)
        sha256 = _archive(folder, archives / archive_name(result["id"]))
        result["raw"] = RawFiles(sha256=sha256, commit=commit).model_dump()
    environments = per_variant(result["environments"])
    every = {label: Environment.model_validate(one) for label, one in environments.items()}
    result["environments"] = shared_once(every).model_dump(mode="json")
    into.mkdir()
    write_atomically(into / RESULT, to_json(result, indent=1).decode() + "\n")
    pack_trials(trials, into / PACKED)


def bring_back(folder: Path, archive: IO[bytes], sha256: str) -> None:
    """Puts the raw files of an archive beside a packed result. Raises TandemError where they are not those of that SHA-256."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as name:
        place = Path(name)
        try:
            with tarfile.open(fileobj=archive, mode="r|*") as tar:
                tar.extractall(place, filter="data")
        except (tarfile.TarError, EOFError, zlib.error) as error:
            raise TandemError(f"{folder}: the archive of its raw files cannot be read: {error}") from None
        with _tar(place, folder.parent) as tar:
            found = file_digest(tar, "sha256").hexdigest()
        if found != sha256:
            raise TandemError(
                f"{folder}: the archive has other files: their SHA-256 is {found}, not {sha256}"
            )
        for file in raw_files(place):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(place / file, folder / file)
