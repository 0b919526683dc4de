"""vegeta, the second opinion: another program, in another language, that makes the same load.

https://github.com/tsenart/vegeta. It is made for open loops; `-rate=0 -max-workers` is its closed one.
"""

import base64
import csv
import json
import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

import numpy as np

from tandem.errors import TandemError
from tandem.load.generator import FOLDER, Load, Report, body_file
from tandem.load.rows import Rows

# Encoded after the load, so that writing text costs nothing while it runs.
_SCRIPT = (
    'name=$1; shift; vegeta attack -output="$name.bin" "$@"'
    ' && vegeta encode -to=csv -output="$name.csv" "$name.bin" && rm -f "$name.bin"'
)
_LENGTH = re.compile(rb"^content-length: *(\d+)\s*$", re.IGNORECASE | re.MULTILINE)
_TIMESTAMP, _CODE, _LATENCY, _ERROR, _SEQUENCE, _HEADERS = 0, 1, 2, 5, 8, 11


def version(text: str) -> str:
    """The version in the output of `vegeta -version`."""
    words = text.split()
    return words[words.index("Version:") + 1] if "Version:" in words else "unknown"


class Vegeta:
    """vegeta as a tandem.load.generator.Generator."""

    name = "vegeta"
    suffixes: tuple[str, ...] = ("csv",)

    def inputs(self, load: Load, name: str) -> dict[str, str]:
        """It asks for the targets in turn, where oha draws one. A target may have a body of its own."""
        targets = [{"method": load.method, "url": url} for url in load.urls or [load.url]]
        if load.bodies is not None and len(load.bodies.each) > 1:
            each = [base64.b64encode(body).decode() for body in load.bodies.each]
            targets = [target | {"body": body} for target in targets for body in each]
        return {"targets": "".join(json.dumps(target) + "\n" for target in targets)}

    def arguments(self, load: Load, name: str) -> list[str]:
        """-redirects=-1: a redirect is no answer. -max-body=0: bodies are read but not kept, which would cost the CPU that
        is shared; their lengths are taken from the answers' Content-Length, which Go's client holds the body to.
        """
        connections = str(load.connections)
        out = ["sh", "-c", _SCRIPT, "sh", f"{FOLDER}/{name}"]
        out += ["-format=json", f"-targets={FOLDER}/{name}.targets", f"-duration={load.duration_s}s"]
        out += [f"-timeout={load.timeout_s}s", "-redirects=-1", "-max-body=0", f"-connections={connections}"]
        if load.rate_rps is None:
            out += ["-rate=0", f"-workers={connections}", f"-max-workers={connections}"]
        else:
            out += [f"-rate={load.rate_rps}/1s", f"-max-connections={connections}"]
        if load.bodies is not None and len(load.bodies.each) == 1:
            out.append(f"-body={body_file(load.bodies)}")
        return [*out, *(f"-header={key}: {value}" for key, value in load.headers.items())]

    def read(self, folder: Path, name: str) -> tuple[Rows, Report]:
        """Rows and errors from `vegeta encode -to=csv`. Raises TandemError if they are missing or broken.

        Without an answer the code is 0: these are the errors, and as with oha they have no row. vegeta stamps
        a request when its pacer has woken, right before it is sent: start and paced start are the same. Times
        count from the first stamp, because the beginning of the load is not told.
        """
        file = folder / f"{name}.csv"
        if not file.is_file():
            raise TandemError(f"{file}: the load generator left no rows")
        try:
            with file.open(newline="") as stream:
                return _rows(list(csv.reader(stream)))
        except (ValueError, IndexError, csv.Error) as error:
            raise TandemError(f"{file}: the load generator's rows cannot be read: {error}") from None


VEGETA = Vegeta()


def _rows(lines: list[list[str]]) -> tuple[Rows, Report]:
    lines.sort(key=lambda line: int(line[_SEQUENCE]))
    first_ns = int(lines[0][_TIMESTAMP]) if lines else 0
    errors = Counter(line[_ERROR] for line in lines if line[_CODE] == "0")
    answered = [line for line in lines if line[_CODE] != "0"]
    # Nanoseconds since 1970 do not fit a float: subtracted before they become one.
    start = np.array([int(line[_TIMESTAMP]) - first_ns for line in answered], dtype=np.int64) / 1e9
    latency = np.array([int(line[_LATENCY]) for line in answered], dtype=np.int64) / 1e9
    status = np.array([int(line[_CODE]) for line in answered], dtype=np.int64)
    lengths = np.array([_length(line[_HEADERS]) for line in answered], dtype=np.int64)
    counts = Counter(line[_CODE] for line in answered)
    report = Report(statusCodeDistribution=dict(counts), errorDistribution=dict(errors))
    return Rows(start, start.copy(), start + latency, status, lengths), report


@lru_cache(maxsize=4096)
def _length(headers: str) -> int:
    """The Content-Length in base64-encoded headers; -1, which no right answer has, where there is none."""
    match = _LENGTH.search(base64.b64decode(headers))
    return int(match[1]) if match else -1
