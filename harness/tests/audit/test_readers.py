"""tandem.audit.readers: what tools and tables say becomes rows; foreign files cannot hurt.

Where fixtures/audit has its facts from: static-1024, pipelined-512: site/data of https://github.com/MDA2AV/HttpArena; wrk2: the
README of https://github.com/giltene/wrk2; h2load: https://nghttp2.org/documentation/h2load-howto.html; vegeta: the form of its
reports; k6: https://grafana.com/docs/k6/latest/results-output/end-of-test; the-benchmarker: framework 2 of data.min.json in
https://github.com/the-benchmarker/web-frameworks; techempower: the form of results.json; oha: that of its --output-format csv.
"""

import json
import os
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tandem.audit import readers
from tandem.audit.readers import read
from tandem.audit.row import Time, clean, parse_columns, parse_number, parse_time
from tandem.audit.rules import audit
from tandem.errors import UsageError

REQUEST = {
    "url": "http://x/",
    "start": 0.0,
    "end": 0.5,
    "duration": 0.5,
    "status": 200,
    "len_bytes": 9,
    "run": 1,
}


def written(folder: Path, name: str, content: object) -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def database(file: Path, rows: Sequence[dict[str, Any]], without: Sequence[str] = ()) -> Path:
    """A database as oha writes it. without: columns that earlier versions did not have."""
    reals, integers = ("start", "start_latency_correction", "end", "duration"), ("status", "len_bytes", "run")
    types = {"url": "text", **dict.fromkeys(reals, "real"), **dict.fromkeys(integers, "integer")}
    has = {name: of for name, of in types.items() if name not in without}
    made = sqlite3.connect(file)
    made.execute(f"create table oha ({', '.join(f'{name} {of}' for name, of in has.items())})")
    given = [[row.get(name) for name in has] for row in rows]
    made.executemany(f"insert into oha values ({', '.join('?' * len(has))})", given)
    made.commit()
    made.close()
    return file


def figures(row: Any, names: Sequence[str]) -> dict[str, Any]:
    """Of a row; times in ms, and pN are percentiles."""
    found = {
        key: row.percentiles.get(float(key[1:])) if key[0] == "p" else getattr(row, key) for key in names
    }
    return {key: at.ms if isinstance(at, Time) else at for key, at in found.items()}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("audit/wrk2.txt", {"rate_rps": 2000.28, "mean": 6.6, "p99.9": 12.3, "connections": 100, "loop": "open", "loose": ""}),
        ("audit/h2load.txt", {"rate_rps": 141164.8, "mean": 69.78, "min": 15.31, "connections": 100, "several": True}),
        ("audit/h2load.txt", {"requests": 1e6, "errors": 1000, "duration_s": 7.08}),
        ("audit/vegeta.txt", {"rate_rps": 56.8, "mean": 1278, "p95": 10_001, "requests": 1000, "errors": 72, "loop": "open"}),
        ("audit/vegeta.json", {"rate_rps": 49.5, "mean": 50, "p99": 100, "max": 150, "requests": 1000, "errors": 10}),
        ("audit/k6.json", {"rate_rps": 4.36938, "mean": 144.56, "p95": 215.95, "connections": 19, "errors": 3}),
        ("audit/k6.json", {"duration_s": 41.196}),
        ("audit/k6-export.json", {"rate_rps": 4.36938, "p50": 110.47, "requests": 180, "duration_s": None}),
        ("audit/the-benchmarker.json", {"name": "someone", "language": "c", "connections": 64, "p99.999": 55.158}),
        ("audit/the-benchmarker.json", {"mean": 1116.66666666667 / 1e3, "duration_s": 15.0938486666667}),
        ("audit/oha.csv", {"requests": 250, "errors": 3, "mean": 2.62613, "p99": None, "p50": 2.62613}),
        ("wrk-good.txt", {"rate_rps": 70672.95, "p99": 8.32, "connections": 50, "loop": "closed"}),
        ("oha-closed.json", {"requests": 200, "errors": 8, "p95": 64.552978, "max": 68.521981}),
        ("oha-closed.db", {"requests": 200, "errors": 8, "loop": ""}),
        ("oha-open.db", {"errors": 8, "loop": "open"}),
    ],
)  # fmt: skip
def test_a_file_becomes_a_row(fixtures: Path, name: str, told: dict[str, Any]) -> None:
    (row,) = read(fixtures / name, {})
    assert figures(row, [*told]) == {
        key: pytest.approx(at) if isinstance(at, float) else at for key, at in told.items()
    }


def test_public_tables(tmp_path: Path, fixtures: Path) -> None:
    found = read(fixtures / "audit/techempower.json", {})
    assert [
        (row.test, row.connections, row.depth, row.rate_rps, row.errors, row.language) for row in found
    ] == [
        ("json", 16, None, 75147 / 15, 0, "Java"),
        ("plaintext", 256, 16, 931314 / 15, 7, "Java"),
        ("query, level 1", 512, None, 75147 / 15, 0, "Java"),
        ("query, level 2", 512, None, 7514 / 15, 0, "Java"),
    ]
    arena = read(fixtures / "audit/pipelined-512.json", {})
    assert (arena[0].name, arena[0].cpu_percent, arena[0].mean) == ("actix", 6572.0, Time(0.502, 0.0005))
    one = [{"framework": "a", "rps": 1, "avg_latency": "1ms", "pipeline": 1}]
    names = ("baseline-h2-256.json", "api-4-256.json", "latency-1m-1024.json")
    h2, api, paced = (read(written(tmp_path, name, one), {})[0] for name in names)
    assert (h2.several, h2.depth, api.cpus, paced.loop, api.loop) == (True, None, 4, "open", "closed")


def test_outputs_that_follow_each_other_are_runs(tmp_path: Path, fixtures: Path) -> None:
    text = (fixtures / "wrk-good.txt").read_text()
    assert [row.name for row in read(written(tmp_path, "wrk-run1.txt", text * 3), {})] == ["wrk"] * 3
    text = (fixtures / "audit/h2load.txt").read_text().replace(": h2", ": http/1.1")
    assert [row.several for row in read(written(tmp_path, "h1.txt", text * 2), {})] == [False, False]


def test_databases_of_oha(tmp_path: Path) -> None:
    two = [REQUEST, REQUEST | {"run": 2, "end": 2.0}, REQUEST | {"run": 2}]
    assert [row.requests for row in read(database(tmp_path / "a.db", two), {})] == [1, 2]
    earlier = database(tmp_path / "b.db", two, without=("run", "start_latency_correction"))
    assert [(row.requests, row.rate_rps) for row in read(earlier, {})] == [(3, 1.5)]


def test_a_csv_is_mapped(tmp_path: Path) -> None:
    (row,) = read(written(tmp_path, "t.csv", "name;rate_rps;p999_us\n<b>;1,000.5;7\n"), {})
    assert figures(row, ["name", "rate_rps", "p99.9", "test"]) == {
        "name": "<b>",
        "rate_rps": 1000.5,
        "p99.9": 0.007,
        "test": "t",
    }
    (row,) = read(written(tmp_path, "t.json", [{"rate_rps": 5, "mean": "1.5s", "loop": "Open"}]), {})
    assert figures(row, ["name", "mean", "loop"]) == {"name": "row 1", "mean": 1500, "loop": "open"}
    file = written(tmp_path, "t.csv", "what,rps,latency,conns\nx,2000,50,64\n")
    (row,) = read(file, parse_columns(["name=what,rate_rps=rps", "mean_ms=latency,connections=conns"]))
    assert (row.name, row.rate_rps, row.mean, row.connections) == ("x", 2000, Time(50, 0.5), 64)
    with pytest.raises(
        UsageError, match=r"no column is a rate or a time: it has what, rps, latency, conns.*--columns"
    ):
        read(file, {})
    with pytest.raises(UsageError, match="there is no column speed"):
        read(file, {"rate_rps": "speed"})
    for wrong in ("rate_rps", "speed=rps", "loose=rps", "percentiles=rps"):
        with pytest.raises(UsageError, match=r"rate_rps=rps,mean_ms=latency|no column 'speed'"):
            parse_columns([wrong])


@pytest.mark.parametrize(
    ("text", "found"),
    [("1.46ms", Time(1.46, 0.005)), ("502us", Time(0.502, 0.0005)), ("2m55s", Time(175_000, 500)), ("3", Time(3, 0.5)),
     (0.25, Time(0.25, 0.005)), ("", None), ("x", None), (None, None), (True, None), ("nan", None), (10**400, None), ("1e999", None)],
)  # fmt: skip
def test_times_have_their_digits(text: object, found: Time | None) -> None:
    at = parse_time(text)
    assert at == (found and pytest.approx(found))


# ---- foreign files cannot hurt ----


@pytest.mark.parametrize(
    "content",
    ["", "hello", "[" * 100_000, '{"a":' * 100_000, "[1, 2]", "{}", '{"metrics": 3}', '{"metrics": {}}', '{"rawData": {"json": 1}}',
     '{"metrics": [], "frameworks": [{}]}', "null,\x00", "9" * 5000 + ",1\n", "request-start,request-duration,status\n1e300,1,200\n",
     "request-start,request-duration,status\nnan,1,200\n", "request-start,request-duration,status\n", "Running 1s\n   Thread Stats  \n",
     '{"latencies": 1, "requests": 2}', '{"summary": {}, "latencyPercentiles": {"p99": 1}, "statusCodeDistribution": {"200": "x"}}',
     '{"metrics": {"http_req_duration": {"avg": {"a": 1}, "p(99)": "x"}, "http_reqs": 1}}', "a" * 200_000 + ",b\n"],
)  # fmt: skip
def test_what_is_not_read_is_told_in_a_line(tmp_path: Path, content: str) -> None:
    with pytest.raises(UsageError, match=r"^t.x cannot be read: ") as said:
        read(written(tmp_path, "t.x", content), {})
    assert len(str(said.value)) < 3_500


def test_hostile_databases(tmp_path: Path) -> None:
    for name, made in {
        "view": "create view oha as with recursive r(n) as (select 1 union all select n + 1 from r) select n as start, n as end, 1 as status from r",
        "virtual": "create virtual table oha using fts5(start, end, status)",
        "generated": "create table oha (start real, status integer, end real generated always as (hex(zeroblob(900000000))))",
        "other": "create table other (start real)",
    }.items():
        file = tmp_path / f"{name}.db"
        hostile = sqlite3.connect(file)
        hostile.execute(made)
        hostile.close()
        with pytest.raises(UsageError, match="its format is not known"):
            read(file, {})
    with pytest.raises(UsageError, match="times that cannot be"):
        read(database(tmp_path / "far.db", [REQUEST | {"end": 1e18}]), {})
    (tmp_path / "cut.db").write_bytes((tmp_path / "far.db").read_bytes()[:3000])
    with pytest.raises(UsageError, match=r"^cut\.db cannot be read"):
        read(tmp_path / "cut.db", {})


def test_sizes_have_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, "t.csv", "rate_rps,name\n" + "1,a\n" * 12)
    monkeypatch.setattr(readers, "ROWS_MOST", 10)
    with pytest.raises(UsageError, match="more than 10 rows"):
        read(file, {})
    monkeypatch.setattr(readers, "TEXT_MOST", 20)
    with pytest.raises(UsageError, match="larger than 0 MiB"):
        read(file, {})
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="it is no file"):
        read(tmp_path / "pipe", {})
    monkeypatch.setattr(readers, "FILES_MOST", 0)
    with pytest.raises(UsageError, match="more than 0 files"):
        readers.files_in(tmp_path)


def test_names_are_one_plain_line() -> None:
    assert clean("a\x1b[31m\n\u202eb") == "a\ufffd[31m\ufffd\ufffdb"
    assert len(clean("x" * 500)) == 80
    assert parse_number(" 1,234.5 % ") == 1234.5


def test_ten_thousand_rows_take_less_than_two_seconds(tmp_path: Path) -> None:
    head = "name,language,rate_rps,mean_ms,p50_ms,p99_ms,connections,requests,errors,duration_s,cpu_percent,cpus\n"
    lines = (f"a{n},l{n % 9},{1000 + n},{64e3 / (1000 + n):.3f},1.5,99.5,64,{15000 + n},{n % 50},15,{n % 900},8\n" for n in range(10_000))  # fmt: skip
    file = written(tmp_path, "t.csv", head + "".join(lines))
    began = time.process_time()
    found = audit(read(file, {}))
    assert time.process_time() - began < 2
    assert found.rows == 10_000
