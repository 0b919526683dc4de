"""vegeta, in another language than oha: the second opinion, and the generator of drawn arrivals and of mixes.

https://github.com/tsenart/vegeta; loadgen/vegeta gives its attacker a schedule in place of a rate.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tandem.errors import TandemError
from tandem.load.generator import FOLDER, HEADERS, Generator, Load, Report, body_file, said
from tandem.load.rows import Rows
from tandem.load.schedule import schedule

_ROW = np.dtype(
    [(name, "<i4") for name in ("request", "status")] + [(n, "<i8") for n in ("due", "sent", "end", "length")]
)


def version(text: str) -> str:
    """The version in the output of `vegeta -version`."""
    words = text.split()
    return words[words.index("Version:") + 1] if "Version:" in words else "unknown"


def _requests(load: Load) -> Iterator[dict[str, Any]]:
    """All distinct requests of one part of a load."""
    bodies: list[Any] = [None]
    if load.bodies is not None:
        bodies = [{"file": body_file(load.bodies), "line": line} for line in range(len(load.bodies.each))]
    headers = HEADERS | {name.lower(): value for name, value in load.headers.items()}
    for url in load.urls or [load.url]:
        for body in bodies:
            yield {"method": load.method, "url": url, "headers": headers, "body": body}


class Vegeta(Generator):
    """vegeta as a tandem.load.generator.Generator."""

    name = "vegeta"
    suffixes: tuple[str, ...] = ("rows",)
    scheduled = True

    def inputs(self, load: Load, name: str) -> dict[str, str]:
        """Each distinct request on a line, with its class; when each arrival is due and which request it is."""
        parts = [
            [one | {"class": number} for one in _requests(part)] for number, part in enumerate(load.parts)
        ]
        due, which = schedule(load, [len(part) for part in parts])
        return {
            "requests": "".join(json.dumps(one) + "\n" for part in parts for one in part),
            "schedule": "".join(
                f"{at} {one}\n" for at, one in zip(due.tolist(), which.tolist(), strict=True)
            ),
        }

    def arguments(self, load: Load, name: str) -> list[str]:
        files = [f"-{one}={FOLDER}/{name}.{one}" for one in ("requests", "schedule", "rows")]
        out = ["vegeta", *files, f"-timeout={load.timeout_s}s", f"-connections={load.connections}"]
        return out if load.rate_rps is not None else [*out, "-closed", f"-duration={load.duration_s}s"]

    def began_s(self, text: str) -> float | None:
        return float(_told(text)["began_ns"]) / 1e9

    def read(self, folder: Path, name: str) -> tuple[Rows, Report]:
        """Rows in the order in which they were due. What was not answered is an error and has none, as with oha."""
        file = folder / f"{name}.rows"
        try:
            every = np.frombuffer(file.read_bytes(), dtype=_ROW)
            lines = (folder / f"{name}.requests").read_text().splitlines()
            of_request = np.array([json.loads(line)["class"] for line in lines])
            classes = of_request[every["request"]]
        except FileNotFoundError:
            raise TandemError(f"{file}: the load generator left no rows") from None
        except (OSError, ValueError, LookupError) as error:
            raise TandemError(f"{file}: the load generator's rows cannot be read: {error}") from None
        order = np.argsort(every["due"], kind="stable")
        every, classes = every[order], classes[order]
        answered = every["status"] != 0
        rows, errors = every[answered], Counter(classes[~answered].tolist())
        status, counts = np.unique(rows["status"], return_counts=True)
        report = Report(
            statusCodeDistribution=dict(zip(map(str, status.tolist()), counts.tolist(), strict=True)),
            errorDistribution=_told(said(folder, name))["errors"],
            errors_of=dict(errors),
        )
        sent, end, due = (rows[column] / 1e9 for column in ("sent", "end", "due"))
        own = classes[answered] if of_request.any() else None
        return Rows(sent, sent, end, rows["status"].astype(np.int64), rows["length"].copy(), due, own), report


VEGETA = Vegeta()


def _told(text: str) -> dict[str, Any]:
    """What it says at its end. Raises TandemError where that is missing."""
    try:
        told: dict[str, Any] = json.loads(text.strip().splitlines()[-1])
        return told
    except (ValueError, IndexError):
        raise TandemError(f"the load generator did not say how it ended: {text.strip()[-300:]}") from None
