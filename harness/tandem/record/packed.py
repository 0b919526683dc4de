"""The committed form of a study's folder: its result in one file, its environments and trials in another. All else goes into an
archive elsewhere.

The result names the SHA-256 of both. The archive is a tar file in a fixed form, however its files are brought back.
"""

import base64
import gzip
import hashlib
import json
import lzma
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import file_digest
from io import BufferedRandom
from pathlib import Path
from typing import IO, Any

from tandem.errors import TandemError
from tandem.record.result import SCHEMA_VERSION, Environment, RawFiles, Result, per_variant, shared_once
from tandem.record.store import PACKED, RESULT, TRIALS, explained, in_lines, write_atomically
from tandem.record.trial import Trial

HISTOGRAM, BARE_HISTOGRAM = re.compile(rb'(_hdr":")([^"]+)'), re.compile(rb'(_hdr":")([0-9a-f]+)')
COOKIE = base64.b64decode("HISTFAAA")[:4]
"""The first bytes of a histogram: HdrHistogram V2, compressed."""


def raw_files(folder: Path) -> list[Path]:
    """The files of a study that its committed form is without, in order of their names."""
    files = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    return sorted(file for file in files if file.parts[0] not in (RESULT, TRIALS, PACKED))


def archive_name(identity: str) -> str:
    """Name of the archive of a result. identity: its id."""
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


def pack(
    folder: Path,
    result: Result[Any],
    trials: Sequence[Trial],
    into: Path,
    archives: Path,
    commit: str | None = None,
) -> None:
    """Writes the committed form of a finished study into a new folder, and an archive of its raw files, if it has any.

    archives: the folder of the archive. commit: one that has the raw files.
    """
    raw = result.raw
    if raw is None and raw_files(folder):
        archives.mkdir(parents=True, exist_ok=True)
        with _tar(folder, archives) as tar, (archives / archive_name(result.id)).open("wb") as stream:
            raw = RawFiles(sha256=file_digest(tar, "sha256").hexdigest(), commit=commit)
            tar.seek(0)
            with gzip.GzipFile(
                filename="", mode="wb", compresslevel=9, fileobj=stream, mtime=0
            ) as compressed:
                shutil.copyfileobj(tar, compressed)
    lines = [shared_once(result.environments), *trials]
    text = b"".join(line.model_dump_json().encode() + b"\n" for line in lines)
    packed = lzma.compress(HISTOGRAM.sub(_bare, text), preset=9 | lzma.PRESET_EXTREME)
    of = hashlib.sha256(packed).hexdigest()
    kept = result.model_copy(update={"environments": {}, "raw": raw, "packed_sha256": of})
    written = {"schema_version": SCHEMA_VERSION, **kept.model_dump(mode="json", exclude_defaults=True)}
    into.mkdir()
    (into / PACKED).write_bytes(packed)
    write_atomically(into / RESULT, in_lines(written) + "\n")


def unpack(file: Path, sha256: str | None) -> tuple[dict[str, Environment], list[Trial]]:
    """The environments and the trials of a committed record. sha256: what its result names. Raises TandemError, naming the file, where
    it has another or cannot be read."""
    try:
        packed = file.read_bytes()
        if (found := hashlib.sha256(packed).hexdigest()) != sha256:
            raise ValueError(f"its SHA-256 is {found}, and {RESULT} names {sha256}")
        first, *lines = BARE_HISTOGRAM.sub(_whole, lzma.decompress(packed)).splitlines()
        every = {name: Environment(**one) for name, one in per_variant(json.loads(first)).items()}
        return every, [Trial.model_validate_json(line) for line in lines]
    except (OSError, lzma.LZMAError, ValueError) as error:
        raise TandemError(f"{file}: the trials cannot be read: {explained(error)}") from None


# A histogram is compressed already, and then another compression finds nothing in it that it could shorten.


def _bare(found: re.Match[bytes]) -> bytes:
    """A histogram without its own compression, in hexadecimal digits."""
    return found[1] + zlib.decompress(base64.b64decode(found[2])[8:]).hex().encode()


def _whole(found: re.Match[bytes]) -> bytes:
    """The histogram as a trial has it."""
    compressed = zlib.compress(bytes.fromhex(found[2].decode()))
    return found[1] + base64.b64encode(COOKIE + len(compressed).to_bytes(4, "big") + compressed)


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
