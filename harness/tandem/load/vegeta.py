"""vegeta, in another language than oha: the second opinion, and the generator of drawn arrivals and of mixes.

https://github.com/tsenart/vegeta; loadgen/vegeta gives its attacker a schedule in place of a rate, which is
fixed by the seed.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tandem.errors import TandemError
from tandem.load.generator import FOLDER, HEADERS, Generator, Load, Report, body_file, said
from tandem.load.rows import Ints, Rows
from tandem.record.trial import Arrivals

CLOSED = 20_000
"""Requests of a closed loop that are drawn; then they come once more in the same order."""


def schedule(load: Load, sizes: list[int]) -> tuple[Ints, Ints]:
    """Due instants in nanoseconds, and the number of each request; a closed loop is due at once. sizes: distinct requests of
    each of the load's parts, which are numbered one after the other. Of several generators' arrivals those of this one.

    Raises TandemError for bursts that do not fit in their period.
    """
    random = np.random.Generator(np.random.PCG64(load.arrivals.seed))
    rate_rps = load.whole_rps or load.rate_rps
    if rate_rps is None:
        due = np.zeros(CLOSED, dtype=np.int64)
    else:
        due = (instants_s(load.arrivals, rate_rps, load.duration_s, random) * 1e9).astype(np.int64)
    which = _drawn([part.weight for part in load.parts], sizes, len(due), random)
    own = slice(load.share[0], None, load.share[1])
    return due[own], which[own]


def instants_s(
    arrivals: Arrivals, rate_rps: float, duration_s: float, random: np.random.Generator
) -> np.typing.NDArray[np.float64]:
    """When requests arrive, so many that the rate is exact.

    Given how many arrive, the instants of a Poisson process are as many independent uniform ones in order (Ross,
    Stochastic Processes, theorem 2.3.1). Raises TandemError for bursts that do not fit in their period.
    """
    number = int(np.ceil(duration_s * rate_rps - 1e-9))
    if arrivals.process == "poisson":
        return np.sort(random.uniform(0.0, duration_s, number))
    if arrivals.process == "paced" or arrivals.size is None or arrivals.pause_ms is None:
        return np.arange(number) / rate_rps
    period_s, pause_s = arrivals.size / rate_rps, arrivals.pause_ms / 1e3
    if pause_s >= period_s:
        raise TandemError(
            f"at {rate_rps:,}/s a burst of {arrivals.size} comes every {period_s * 1e3:,.0f} ms, which leaves no pause of"
            f" {arrivals.pause_ms:,} ms: use larger bursts or a shorter pause"
        )
    bursts, within = np.divmod(np.arange(number), arrivals.size)
    return np.asarray(bursts * period_s + within * (period_s - pause_s) / arrivals.size)


def _drawn(weights: list[int], sizes: list[int], number: int, random: np.random.Generator) -> Ints:
    """Which request each arrival is: of the parts in their exact shares, in random order; within a part each alike."""
    edges = np.round(np.cumsum([0, *weights]) / sum(weights) * number).astype(np.int64)
    part = random.permutation(np.repeat(np.arange(len(weights)), np.diff(edges)))
    first = np.cumsum([0, *sizes[:-1]])
    return np.asarray(first[part] + random.integers(0, np.asarray(sizes)[part]), dtype=np.int64)


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
        out += [f"-retries={load.retries}"] if load.retries else []
        if load.requests_per_connection:
            out.append(f"-requests-per-connection={load.requests_per_connection}")
        out += ["-http2"] if load.http2 else []
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
        told = _told(said(folder, name))
        report = Report(
            statusCodeDistribution=dict(zip(map(str, status.tolist()), counts.tolist(), strict=True)),
            errorDistribution=told["errors"],
            errors_of=dict(errors),
            retried=told.get("retried"),
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
