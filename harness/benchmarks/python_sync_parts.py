"""The parts of the CPU time of a request to python-sync: HTTP parser, moments, and the rest of one process.

    just up python-sync
    docker exec -i tandem-app-1 python3 - [US] < harness/benchmarks/python_sync_parts.py
    just down

It runs in the container of a running application, for about 15 seconds, and imports nothing of the harness. It serves the
request of the scenario `recipes` as gunicorn's thread does, part by part, on a socket and with the database of the stack:
CPU time of one thread, in which nobody waits for the interpreter's lock. Moments are timed apart, as many as such an
answer has: binary in psycopg's C, as python-sync asks for them, and as text by Django's loader. Rounds of both alternate;
a line has the median round and, in brackets, the range of the rounds.

US: the CPU time of a request under load, of a record (`app_cpu_us_per_request`). With it each part is also a share of
that, and what no part has is told: threads, poller, lock and the second process. The second process alone is

    just compare python-sync python-sync:WORKERS=1,THREADS=20 --scenario recipes --plan settings
"""

import socket
import statistics
import struct
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import md5
from itertools import pairwise
from time import thread_time_ns

from django.db import connection
from gunicorn.app.wsgiapp import WSGIApplication
from gunicorn.http import get_parser, wsgi
from psycopg.adapt import Transformer
from psycopg.pq import Format
from recipes.main import app
from recipes.repository import execute

ROUNDS, REQUESTS, LOADS = 12, 250, 2000
SESSION = md5(b"session 1", usedforsecurity=False).hexdigest()
# As HAProxy hands on what oha sends.
HEAD = (
    "GET /api/v1/recipes HTTP/1.1\r\naccept: */*\r\naccept-encoding: gzip, compress, deflate, br\r\n"
    f"user-agent: oha/1.16.0\r\ncookie: sessionid={SESSION}\r\nhost: proxy:8080\r\n\r\n"
).encode()
PEER = ("127.0.0.1", 8080)
TIMESTAMPTZ = 1184
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
PARTS = ("parser", "environ", "Django and the database", "answer written")
"""Steps of gunicorn's handle_request, in their order."""


def serve(config: object, requests: int) -> list[float]:
    """Microseconds of CPU time that a request takes in each part."""
    spent = [0] * len(PARTS)
    near, far = socket.socketpair()
    with near, far:
        parser = get_parser(config, near, PEER)
        for _ in range(requests):
            far.sendall(HEAD)
            marks = [thread_time_ns()]
            request = next(parser)
            marks.append(thread_time_ns())
            response, environ = wsgi.create(request, near, PEER, PEER, config)
            environ["wsgi.multithread"] = True
            marks.append(thread_time_ns())
            answer = app(environ, response.start_response)
            marks.append(thread_time_ns())
            for chunk in answer:
                response.write(chunk)
            response.close()
            answer.close()
            marks.append(thread_time_ns())
            if not response.status.startswith("200"):
                raise SystemExit(f"the answer is {response.status}")
            far.recv(1 << 20)
            for part, (begin, end) in enumerate(pairwise(marks)):
                spent[part] += end - begin
    return [ns / 1000 / requests for ns in spent]


def moments(recipes: int = 50) -> list[datetime]:
    """As many as a recipe has on average, of random ones of the session's user."""
    found = []
    with connection.cursor() as cursor:
        for _ in range(recipes):
            execute(cursor, "recipe_random", 1)
            key = 0
            for name in ("", "notes", "reactions", "timeline_events"):
                if name:
                    execute(cursor, name, key)
                columns = [
                    at for at, column in enumerate(cursor.description) if column.type_code == TIMESTAMPTZ
                ]
                rows = cursor.fetchall()
                key = key or rows[0][0]
                found += [row[at] for row in rows for at in columns if row[at] is not None]
    return found[: round(len(found) / recipes)]


def loader(values: Sequence[datetime], form: Format) -> Callable[[], object]:
    """Loads all of them, as a cursor does with a result in that format."""
    if form is Format.BINARY:
        raw = [struct.pack("!q", round((value - EPOCH).total_seconds() * 1e6)) for value in values]
    else:
        raw = [value.astimezone(UTC).isoformat(" ").removesuffix(":00").encode() for value in values]
    connection.ensure_connection()
    transformer = Transformer(connection.connection)
    transformer.set_loader_types([TIMESTAMPTZ] * len(raw), form)
    if list(transformer.load_sequence(raw)) != list(values):
        raise SystemExit(f"moments in {form.name} are not what they were")
    return lambda: transformer.load_sequence(raw)


def each(work: Callable[[], object], times: int) -> float:
    """Microseconds of CPU time."""
    began = thread_time_ns()
    for _ in range(times):
        work()
    return (thread_time_ns() - began) / 1000 / times


def main(total_us: float | None) -> None:
    sys.argv = ["gunicorn", "--config", "python:recipes.server"]
    config = WSGIApplication().cfg
    values = moments()
    loaders = {form: loader(values, form) for form in (Format.BINARY, Format.TEXT)}
    serve(config, REQUESTS)  # the statements are prepared, the code is warm
    names = (*PARTS, *(f"moments, {form.name.lower()}" for form in loaders))
    rounds: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(ROUNDS):
        measured = [*serve(config, REQUESTS), *(each(load, LOADS) for load in loaders.values())]
        for name, value in zip(names, measured, strict=True):
            rounds[name].append(value)
    middle = {name: statistics.median(found) for name, found in rounds.items()}
    whole = sum(middle[name] for name in PARTS)
    print(f"{len(values)} moments in an answer, {ROUNDS} rounds of {REQUESTS} requests")
    for name, found in rounds.items():
        of_total = f", {middle[name] / total_us:6.1%} of {total_us:g} µs" if total_us else ""
        share = f"{middle[name] / whole:6.1%} of the parts{of_total}"
        print(f"{name:24} {middle[name]:7.1f} µs ({min(found):.1f} to {max(found):.1f}), {share}")
    print(f"{'all parts':24} {whole:7.1f} µs")
    if total_us:
        print(f"{'in no part':24} {total_us - whole:7.1f} µs, {1 - whole / total_us:6.1%} of {total_us:g} µs")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else None)
