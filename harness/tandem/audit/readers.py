"""Reads the files of load generators and of public tables. Nothing in them is evaluated; sizes and numbers of rows have limits."""

import csv
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from tandem.audit.row import COLUMNS, TIME_KEY, Row, clean, parse_number, parse_time, row_of
from tandem.errors import TandemError, UsageError
from tandem.load import wrk
from tandem.load.rows import PERCENTILES, Floats, Ints, Rows, answers_per_second, times

TEXT_MOST, DATABASE_MOST = 16 * 2**20, 256 * 2**20
"""The most bytes of a text file and of a database."""
ROWS_MOST = 200_000
"""The most rows of a table; of single requests ten times as many."""
FILES_MOST = 2_000
QUERY_MOST_S = 20
LONGEST_S = 30 * 24 * 3600
"""A load that claims to last longer is not read."""
SQLITE = b"SQLite format 3\0"
FORMATS = (
    "oha (JSON, CSV, SQLite), wrk and wrk2 (text), k6 (JSON of --summary-export or handleSummary), vegeta (report, text or"
    " JSON), h2load (text), HttpArena (site/data/*.json), the-benchmarker (data.json), TechEmpower (results.json), any CSV"
)
MAPPING = f"A CSV needs names: --columns rate_rps=rps,mean_ms=latency. Names: {', '.join(COLUMNS)}"
WRK_ADDS = "wrk adds times of requests that it did not send"
"""stats_correct in https://github.com/wg/wrk/blob/master/src/stats.c"""
BAD = (
    OSError,
    sqlite3.Error,
    csv.Error,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a file that is not what it seems to be may raise."""
type Record = dict[str, Any]
type Records = Iterator[Record]


def read(file: Path, columns: Mapping[str, str]) -> list[Row]:
    """The rows of a file. columns: name of a column -> heading, for a CSV. Raises UsageError for what cannot be read."""
    told = clean(file.name)
    try:
        if not file.is_file():
            raise UsageError("it is no file")
        with file.open("rb") as stream:
            is_database = stream.read(len(SQLITE)) == SQLITE
        most = DATABASE_MOST if is_database else TEXT_MOST
        if file.stat().st_size > most:
            raise UsageError(f"it is larger than {most // 2**20} MiB")
        name = re.sub(r"(?i)[-_. ]?(run|try|rep)[-_. ]?\d{1,4}$", "", file.stem) or file.stem
        text = "" if is_database else file.read_text("utf-8-sig", "replace")
        found = _database(name, file) if is_database else _text(name, text, columns)
        rows = [row_of(record) for record in islice(found, ROWS_MOST + 1)]
        if len(rows) > ROWS_MOST:
            raise UsageError(f"it has more than {ROWS_MOST:,} rows")
        return rows
    except TandemError as error:
        why = "".join(one if one.isprintable() else " " for one in str(error))[:2_000]
    except BAD as error:
        why = f"{clean(error)} ({type(error).__name__})"
    raise UsageError(f"{told} cannot be read: {why}")


def files_in(folder: Path) -> list[Path]:
    """The files of a folder, not of those in it. Raises UsageError for too many."""
    found = [file for file in islice(folder.iterdir(), FILES_MOST + 1) if file.is_file()]
    if len(found) > FILES_MOST:
        raise UsageError(f"{clean(folder)} has more than {FILES_MOST:,} files: name those to read")
    return sorted(found)


def _text(name: str, text: str, columns: Mapping[str, str]) -> Records:
    first = text.partition("\n")[0]
    if text[:100].lstrip()[:1] in ("{", "["):
        return _json(name, json.loads(text, parse_constant=lambda _: None), columns)
    if "\0" in text[:1000]:
        raise _unknown()
    for pattern, reader in TEXT_READERS.items():
        if re.search(pattern, text, re.MULTILINE):
            return reader(name, text)
    if re.search(r"[,;\t]", first):
        return _csv(name, text, max(",;\t", key=first.count), columns)
    raise _unknown()


def _unknown() -> UsageError:
    return UsageError(f"its format is not known. Read are {FORMATS}. {MAPPING}")


def _parts(begin: str, text: str) -> Iterator[str]:
    """Outputs that follow each other in a file. begin: pattern of the first line of each."""
    found = islice(re.finditer(begin, text, re.MULTILINE), ROWS_MOST + 1)
    at = [match.start() for match in found] or [0]
    return (text[low:high] for low, high in zip(at, [*at[1:], len(text)], strict=True))


# ---- text ----


def _wrk(name: str, text: str) -> Records:
    for part in _parts(r"^Running ", text):
        told = wrk.parse(part)
        row: Record = {"name": name, "rate_rps": told.requests_rps, "duration_s": told.duration_s}
        row |= {"requests": told.requests, "errors": told.failed}
        row |= {"mean": told.latency_mean_ms, "max": told.latency_max_ms}
        paced = re.search(r"Thread calibration:|HdrHistogram", part)
        row |= {"loop": "open"} if paced else {"loop": "closed", "loose": WRK_ADDS}
        connections = re.search(r"^ +\d+ threads and (\d{1,9}) connections$", part, re.MULTILINE)
        of = re.findall(r"^ +(\d\d(?:\.\d{1,4})?)% +(\S{1,20})$", part, re.MULTILINE)
        yield row | {f"p{q}": at for q, at in of} | {"connections": connections and connections[1]}


def _h2load(name: str, text: str) -> Records:
    """https://nghttp2.org/documentation/h2load.1.html#output"""
    for part in _parts(r"^starting benchmark", text):
        lines = {line.partition(":")[0]: line.partition(":")[2] for line in part.splitlines()[:10_000]}
        done = re.search(r"^finished in (\S{1,20}), +([\d.]{1,20}) req/s", part, re.MULTILINE)
        clients = re.findall(r"^spawning thread #\d+: (\d{1,9}) total client", part, re.MULTILINE)
        told = lines.get("requests", "") + lines.get("status codes", "")
        counts = {word: int(count) for count, word in re.findall(r"(\d{1,18}) (\w+)", told)}
        heading = re.search(r"^ +(min +max +.{2,80})$", part, re.MULTILINE)
        keys = re.findall(r"\+/- sd|\S+", heading[1] if heading else "")
        of = dict(zip(keys, lines.get("time for request", "").split(), strict=False))
        if not done or not (lasted := parse_time(done[1])):
            continue
        row: Record = {"name": name, "rate_rps": done[2], "duration_s": lasted.ms / 1e3, "loop": "closed"}
        of["p50"] = of.get("median")
        row |= {key: at for key, at in of.items() if re.fullmatch(r"mean|min|max|p\d\d", key)}
        row |= {"requests": counts.get("done"), "errors": counts.get("4xx", 0) + counts.get("5xx", 0)}
        h1 = lines.get("Application protocol", "").strip() == "http/1.1"
        yield row | {"connections": sum(map(int, clients)) or None, "several": not h1}


def _vegeta_text(name: str, text: str) -> Records:
    for part in _parts(r"^Requests +\[", text):
        of: Record = {"name": name, "loop": "open"}
        names = {"rate_rps": "Requests throughput", "requests": "Requests total", "success": "Success ratio"}
        names |= {key: f"Latencies {key}" for key in ("mean", "min", "max")}
        names |= {f"p{q}": f"Latencies {q}" for q in (50, 90, 95, 99)}
        lines = re.findall(r"^(\w[\w ]{1,20}?) +\[(.{1,60}?)\] +(\S.{0,200})$", part, re.MULTILINE)
        told: dict[str, str] = {}
        for line, keys, values in lines:
            each = zip(keys.split(", "), values.split(", "), strict=False)
            told |= {f"{line} {key}": at for key, at in each}
        of |= {key: told.get(at) for key, at in names.items()}
        yield of | {"errors": _failed(of["requests"], parse_number(of.pop("success")), 100)}


def _failed(requests: object, success: float | None, whole: float = 1) -> float | None:
    total = parse_number(requests)
    return None if total is None or success is None else round(total * (1 - success / whole))


def _csv(name: str, text: str, delimiter: str, columns: Mapping[str, str]) -> Records:
    table = csv.DictReader(StringIO(text, newline=""), delimiter=delimiter)
    headings = [heading or "" for heading in table.fieldnames or []]
    of_oha = ("request-start", "request-duration", "status")
    if not {*of_oha} <= {*headings}:
        yield from _mapped(name, table, headings, columns)
        return
    each = ([float(one[key]) for key in of_oha] for one in islice(table, 10 * ROWS_MOST))
    start, lasted, status = np.fromiter(chain.from_iterable(each), dtype=np.float64).reshape(-1, 3).T
    yield _of_requests(name, start, start, start + lasted, status)


def _mapped(test: str, records: Any, headings: list[str], columns: Mapping[str, str]) -> Records:
    """Records of any table. Headings that are names of columns need no mapping."""
    has = f"it has {', '.join(map(clean, headings[:40]))}"
    if missing := [clean(heading) for heading in columns.values() if heading not in headings]:
        raise UsageError(f"there is no column {missing[0]}: {has}")
    known = {*headings} - {*columns.values()}
    chosen = {name: name for name in known if name in COLUMNS or TIME_KEY.fullmatch(name)} | dict(columns)
    if not any(name == "rate_rps" or TIME_KEY.fullmatch(name) for name in chosen):
        raise UsageError(f"no column is a rate or a time: {has}. {MAPPING}")
    for count, one in enumerate(records, start=1):
        row = {name: one.get(heading) for name, heading in chosen.items()}
        yield {"name": f"row {count}", "test": test} | row


TEXT_READERS: dict[str, Callable[[str, str], Records]] = {
    r"^ +Thread Stats ": _wrk,
    r"^finished in .{1,40} req/s": _h2load,
    r"^Latencies +\[": _vegeta_text,
}
"""A line of an output -> who reads it."""

# ---- JSON ----


def _json(name: str, found: Any, columns: Mapping[str, str]) -> Records:
    if isinstance(found, list) and all(isinstance(one, dict) for one in found):
        if not found or {"framework", "rps", "avg_latency"} <= found[0].keys():
            return _arena(name, found)
        return _mapped(name, found, list(dict.fromkeys(key for one in found[:100] for key in one)), columns)
    for keys, reader in JSON_READERS.items():
        if isinstance(found, dict) and {*keys} <= found.keys():
            return reader(name, found)
    raise _unknown()


ARENA = {"name": "framework", "rate_rps": "rps", "mean": "avg_latency", "p99": "p99_latency"}
ARENA |= {"cpu_percent": "cpu", "language": "language", "connections": "connections", "depth": "pipeline"}


def _arena(test: str, found: list[Mapping[str, Any]]) -> Records:
    """https://github.com/MDA2AV/HttpArena: a file for each profile and number of connections, such as `api-4-256.json`."""
    limit = re.match(r"api-(\d{1,3})-", test)
    several = re.search(r"h2|h3|grpc|gateway|production", test) is not None
    paced = test.startswith(("latency-", "8gbit"))
    same: Record = {"test": test, "loop": "open" if paced else "closed", "cpus": limit and limit[1]}
    same |= {"several": True, "depth": None} if several else {}
    for one in found:
        status = [parse_number(one.get(f"status_{code}xx")) or 0.0 for code in (2, 3, 4, 5)]
        row: Record = {name: one.get(key) for name, key in ARENA.items()}
        lasted = parse_time(one.get("duration"))
        row |= {"requests": sum(status), "errors": sum(status[2:]), "duration_s": lasted and lasted.ms / 1e3}
        yield row | same


def _benchmarker(_: str, found: Mapping[str, Any]) -> Records:
    """https://github.com/the-benchmarker/web-frameworks, data.json: microseconds."""
    known = {one["id"]: one for one in found["frameworks"]}
    by_row: dict[tuple[Any, Any], Record] = {}
    for one in found["metrics"]:
        by_row.setdefault((one["framework_id"], one["level"]), {})[str(one["label"])] = one["value"]
    names = {"rate_rps": "total_requests_per_s", "requests": "total_requests", "errors": "http_errors"}
    names |= {"mean_us": "average_latency", "min_us": "minimum_latency", "max_us": "maximum_latency"}
    names |= {f"p{q}_us": f"percentile_{q}" for q in ("50", "75", "90", "99", "99.999")}
    loose = f"its figures are means over several URLs, and {WRK_ADDS}"
    for (framework, level), record in by_row.items():
        of, lasted = known.get(framework, {}), parse_number(record.get("duration_ms"))
        row: Record = {"name": of.get("label", framework), "language": of.get("language"), "loop": "closed"}
        row |= {"connections": level, "duration_s": lasted and lasted / 1e6, "loose": loose}
        yield row | {name: record.get(label) for name, label in names.items()}


PIPELINED = 16
"""Requests at once of TechEmpower's plaintext: toolset/wrk/pipeline.sh"""


def _techempower(_: str, found: Mapping[str, Any]) -> Records:
    """https://github.com/TechEmpower/FrameworkBenchmarks, results.json: wrk's figures at each level."""
    languages = {one.get("name"): one.get("language") for one in found.get("testMetadata") or []}
    lasts_s = parse_number(found.get("duration"))
    plain, piped = (found.get(f"{key}oncurrencyLevels") or [] for key in ("c", "pipelineC"))
    for test, frameworks in found["rawData"].items():
        queries = "quer" in test or test == "update"  # these vary the queries, at the most connections
        levels = piped if test == "plaintext" else plain
        same = {"duration_s": lasts_s, "loop": "closed", "loose": WRK_ADDS}
        same |= {"depth": PIPELINED if test == "plaintext" else None}
        for name, loads in frameworks.items():
            for at, load in enumerate(loads if isinstance(loads, list) else []):
                total = parse_number(load.get("totalRequests"))
                row: Record = {"name": name, "language": languages.get(name), "requests": total} | same
                row |= {"test": f"{test}, level {at + 1}" if queries else test}
                row |= {"rate_rps": total / lasts_s if total and lasts_s else None}
                row |= {"mean": load.get("latencyAvg"), "max": load.get("latencyMax")}
                row |= {"errors": sum(parse_number(load.get(code)) or 0 for code in ("4xx", "5xx"))}
                yield row | {"connections": max(plain) if queries else levels[at]}


USERS = "a user of k6 may send several requests at once (http.batch)"


def _k6(name: str, found: Mapping[str, Any]) -> Records:
    """https://grafana.com/docs/k6/latest/results-output/end-of-test/custom-summary/: figures are below `values`, or beside
    each other in what --summary-export writes. `passes` of http_req_failed are those that failed."""
    of = {key: one.get("values", one) for key, one in found["metrics"].items()}
    asked, lasted, users = of.get("http_reqs", {}), of["http_req_duration"], of.get("vus_max", {})
    run_ms = parse_number(found.get("state", {}).get("testRunDurationMs"))
    row: Record = {"name": name, "rate_rps": asked.get("rate"), "requests": asked.get("count")}
    names = {"mean": "avg", "min": "min", "max": "max", "p50": "med"}
    row |= {"loose": USERS} | {key: lasted.get(at) for key, at in names.items()}
    row |= {f"p{key[2:-1]}": at for key, at in lasted.items() if re.fullmatch(r"p\(\d\d(\.\d{1,4})?\)", key)}
    row |= {"errors": of.get("http_req_failed", {}).get("passes"), "duration_s": run_ms and run_ms / 1e3}
    yield row | {"connections": users.get("max", users.get("value"))}


def _vegeta(name: str, found: Mapping[str, Any]) -> Records:
    """https://github.com/tsenart/vegeta, `report -type=json`: nanoseconds. `throughput` is the rate of the successes."""
    of, total = found["latencies"], found["requests"]
    row: Record = {"name": name, "loop": "open", "requests": total}
    row |= {"rate_rps": found.get("throughput", found.get("rate"))}
    row |= {f"{key}_ns": of.get(key) for key in ("mean", "min", "max")}
    row |= {f"p{q}_ns": of.get(f"{q}th") for q in (50, 90, 95, 99)}
    yield row | {"errors": _failed(total, parse_number(found.get("success")))}


def _oha(name: str, found: Mapping[str, Any]) -> Records:
    """https://github.com/hatoo/oha, --output-format json: seconds."""
    of, codes = found["summary"], found["statusCodeDistribution"]
    row: Record = {"name": name, "rate_rps": of.get("requestsPerSec"), "duration_s": of.get("total")}
    row |= {"mean_s": of.get("average"), "min_s": of.get("fastest"), "max_s": of.get("slowest")}
    row |= {f"{key}_s": at for key, at in found["latencyPercentiles"].items() if TIME_KEY.fullmatch(key)}
    dropped = parse_number(found.get("errorDistribution", {}).get("aborted due to deadline"))
    wrong = sum(count for code, count in codes.items() if code[:1] in "45")
    yield row | {"requests": sum(codes.values()), "errors": wrong, "cut_off": dropped}


JSON_READERS: dict[tuple[str, ...], Callable[[str, Mapping[str, Any]], Records]] = {
    ("summary", "latencyPercentiles", "statusCodeDistribution"): _oha,
    ("latencies", "requests"): _vegeta,
    ("rawData",): _techempower,
    ("metrics", "frameworks"): _benchmarker,
    ("metrics",): _k6,
}
"""Keys of a file -> who reads it; the first that fits."""

# ---- requests, one by one ----


def _database(name: str, file: Path) -> Records:
    """oha's SQLite: today's, and those of before `run` and the paced start. Only columns of a plain table are read."""
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        until = monotonic() + QUERY_MOST_S
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2**20)
        database.set_progress_handler(lambda: monotonic() > until, 100_000)
        database.execute("pragma trusted_schema = off")
        made = database.execute("select sql from sqlite_master where name = 'oha' and type = 'table'")
        plain = re.match(r"(?i)create\s+table", "".join(map(str, made.fetchone() or ())))
        has = {row[1] for row in database.execute("pragma table_info(oha)")}
        if not plain or not {"start", "end", "status"} <= has:
            raise _unknown()
        wanted = ("run", "start", "start_latency_correction", "end", "status")
        numbers = (f'coalesce(cast("{one}" as real), -1)' if one in has else "-1" for one in wanted)
        found = database.execute(f"select {', '.join(numbers)} from oha limit {10 * ROWS_MOST}")
        runs, *columns = np.fromiter(chain.from_iterable(found), dtype=np.float64).reshape(-1, 5).T
    for run in np.unique(runs)[:1_000]:
        yield _of_requests(name, *(column[runs == run] for column in columns))


def _of_requests(name: str, start: Floats, paced: Floats, end: Floats, status: Floats) -> Record:
    """The row of single requests; times in seconds since the load began. paced: below 0, or the start, in a closed loop."""
    all_finite = all(np.isfinite(of).all() for of in (start, paced, end, status))
    if not len(end) or not all_finite or end.min() < 0 or not 0 < end.max() < LONGEST_S:
        raise UsageError("it has no requests, or times that cannot be")
    codes: Ints = status.astype(np.int64)
    is_open = bool((paced >= 0).all() and (paced != start).any())
    rows = Rows(start, paced, end, codes, np.zeros_like(codes))
    told, lasted = times(end - (paced if is_open else start)), float(end.max())
    before = answers_per_second(rows)[1 : int(lasted) - 1]
    row: Record = {"name": name, "rate_rps": len(rows) / lasted, "duration_s": lasted, "requests": len(rows)}
    row |= {"mean": told.mean, "max": told.max, "loop": "open" if is_open else ""}
    row |= {"errors": int((codes >= 400).sum())}
    row |= {key: getattr(told, key) for key in PERCENTILES.values()}
    last = (int((end > lasted - 1).sum()), float(np.median(before))) if len(before) >= 2 else None
    return row | {"last_second": last}
