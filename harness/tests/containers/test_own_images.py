"""`--image`: services that know nothing of the contract, from the example of the documents and from a distribution."""

import json
import math
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness_commands import ONE_TRIAL, TANDEM, bench_containers, run, tandem, words
from harness_places import PLANS, ROOT

from tandem.history import files

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]

SHOP = {folder: f"tandem-test/shop:{folder}" for folder in ("before", "after")}
DATA = ("--database", str(ROOT / "examples/shop/shop.sql"))
NGINX, CLOCK, SILENT, SHARING, FRONT = (
    f"tandem-test/{name}:1" for name in ("nginx", "clock", "silent", "sharing", "front")
)
RECIPES = {
    NGINX: """
FROM debian:trixie-slim
RUN apt-get update && apt-get install -y --no-install-recommends nginx-light && rm -rf /var/lib/apt/lists/*
CMD ["nginx", "-g", "daemon off;"]
""",
    # Answers with the time of the day, each time another one.
    CLOCK: """
FROM tandem-test/shop:before
CMD ["python3", "-c", "import http.server as h, time\\nclass H(h.BaseHTTPRequestHandler):\\n def do_GET(s):\\n  b = str(time.time_ns()).encode()\\n  s.send_response(200); s.send_header('Content-Length', str(len(b))); s.end_headers(); s.wfile.write(b)\\nh.HTTPServer(('', 8080), H).serve_forever()"]
""",
    # Threads that share what is asked for get each other's carts, and a wrong total: right when asked one after the other, and wrong under load.
    SHARING: """
FROM tandem-test/shop:before
USER root
RUN sed -i 's/^    found = .*/    own.cart = cart\\n    lines(data(), cart)\\n    cart = own.cart\\n    found = lines(data(), cart)/; s/own = local()/own = type("Shared", (), {"busy": 0})/' shop.py \\
 && sed -i 's/^    cents = .*/    own.busy += 1\\n&/; s/at=time(), total_cents=total/&+ (own.busy > 0)/; s/^    total = sum(cents.*/&\\n    own.busy -= 1/' shop.py
USER nobody
""",
    SILENT: 'FROM tandem-test/shop:before\nCMD ["sh", "-c", "echo no port for me; exit 3"]\n',
    # Asks another service for a price, and says it as often as its environment wants. It finds no variable that nobody gave it.
    FRONT: """
FROM tandem-test/shop:before
CMD ["python3", "-c", "import http.server as h, os, urllib.request as u\\nassert not {'WORKERS', 'DATABASE_URL'} & {*os.environ}\\nclass H(h.BaseHTTPRequestHandler):\\n protocol_version = 'HTTP/1.1'\\n def log_message(s, *a): pass\\n def do_GET(s):\\n  b = u.urlopen(os.environ['PRICES']).read() * int(os.environ.get('COPIES', '1'))\\n  s.send_response(200); s.send_header('Content-Length', str(len(b))); s.end_headers(); s.wfile.write(b)\\nh.ThreadingHTTPServer(('', 8080), H).serve_forever()"]
""",
}
KINDS = {
    "fastapi": (
        "main.py",
        """
import sqlite3
from fastapi import FastAPI, HTTPException
app, data = FastAPI(), "file:heroes?mode=memory&cache=shared"
kept = sqlite3.connect(data, uri=True)
kept.executescript("create table hero (id integer primary key, name text); insert into hero values (1, 'Deadpond')")
@app.get("/{id}")
def read_hero(id: int):
    found = sqlite3.connect(data, uri=True).execute("select id, name from hero where id = ?", (id,)).fetchone()
    if found is None:
        raise HTTPException(404)
    return dict(zip(("id", "name"), found))
""",
        """
FROM debian:trixie-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3-fastapi uvicorn && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY main.py ./
CMD ["uvicorn", "main:app", "--host", "0.0.0.0", "--port", "8080", "--no-access-log"]
""",
    ),
    "express": (
        "app.js",
        """
const app = require('express')()
app.get('/:id', (req, res) => res.json({ id: Number(req.params.id), name: 'Hello World!' }))
app.listen(8080)
""",
        """
FROM debian:trixie-slim
RUN apt-get update && apt-get install -y --no-install-recommends nodejs node-express && rm -rf /var/lib/apt/lists/*
COPY app.js /app/
ENV NODE_ENV=production NODE_PATH=/usr/share/nodejs
CMD ["node", "/app/app.js"]
""",
    ),
    "go": (
        "main.go",
        """
package main
import ("encoding/json"; "net/http")
func main() {
    http.HandleFunc("GET /{id}", func(w http.ResponseWriter, r *http.Request) {
        w.Header().Set("Content-Type", "application/json")
        json.NewEncoder(w).Encode(map[string]string{"id": r.PathValue("id")})
    })
    http.ListenAndServe(":8080", nil)
}
""",
        """
FROM debian:trixie-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends golang-go && rm -rf /var/lib/apt/lists/*
COPY main.go /src/
RUN cd /src && CGO_ENABLED=0 go build -o /app main.go
FROM scratch
COPY --from=build /app /app
CMD ["/app"]
""",
    ),
}
"""After the frameworks' own tutorials."""
COMPOSE = """
services:
  web:
    image: unused
    environment: {{PRICES: "http://prices:9000/cents"}}
  prices:
    image: {image}
    working_dir: /tmp
    command: ["sh", "-c", "echo 250 >cents && exec python3 -m http.server 9000"]
    healthcheck: {{test: [CMD, test, -s, /tmp/cents], interval: 1s}}
"""


@pytest.fixture(scope="module", autouse=True)
def images() -> Iterator[None]:
    """All of them; what a test leaves goes."""
    for folder, name in SHOP.items():
        context = str(ROOT / "examples/shop")
        built = run(
            "docker", "buildx", "build", "--load", "--build-arg", f"FOLDER={folder}", "-t", name, context
        )
        assert built.returncode == 0, built.stderr
    for name, recipe in RECIPES.items():
        command = ["docker", "buildx", "build", "--load", "-t", name, "-"]
        done = subprocess.run(command, input=recipe, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    yield
    ours = run("docker", "image", "ls", "-q", "--filter", "label=dev.tandem.built=service").stdout.split()
    subprocess.run(
        ["docker", "image", "rm", "-f", *SHOP.values(), *RECIPES, *ours], capture_output=True, check=False
    )


def refused(*arguments: str) -> str:
    done = run(*TANDEM, "compare", *arguments, "--plan", ONE_TRIAL)
    assert done.returncode != 0
    assert not bench_containers()
    return words(done.stderr)


def windows(results: Path) -> list[Any]:
    """Those of all trials."""
    trials = [json.loads(file.read_text()) for file in results.glob("*/trials/*.json")]
    found = [w for trial in trials for record in trial["windows"] for w in record["windows"].values()]
    assert found
    return found


def test_a_change_that_asks_for_each_line_is_dearer(tmp_path: Path) -> None:
    """The example of the documents, by the script that the action and other CI run: both answer alike, and the second runs 26
    queries for one."""
    results = ROOT / "results"
    before = set(results.iterdir())
    command = [str(ROOT / ".github/actions/compare/compare"), str(tmp_path / "comment.md"), *SHOP.values()]
    own = (
        "--get",
        "/cart/{id}",
        "--ids",
        "0-49",
        "--port",
        "3000",
        "--plan",
        str(PLANS / "one-trial.toml"),
        "--seed",
        "1",
        *DATA,
    )
    try:
        done = run(*command, *own, "--fail-over", "5%")
        lines = (tmp_path / "comment.md").read_text().splitlines()
        [folder] = [one for one in set(results.iterdir()) - before if (one / "result.json").exists()]
        result = json.loads((folder / "result.json").read_text())
        trials = [json.loads(file.read_text()) for file in folder.glob("trials/*.json")]
    finally:
        for one in set(results.iterdir()) - before:
            shutil.rmtree(one) if one.is_dir() else one.unlink()
    assert "own service: asking" in done.stderr
    assert any(line.startswith("| statements for each request") for line in lines)
    assert lines[0] == f"### {SHOP['after']} against {SHOP['before']}"
    assert f"answers are verified against those of {SHOP['before']}, not against a contract" in lines
    assert done.returncode == (result["verdict"] != "ok"), (
        "one block decides nothing, so no budget is exceeded"
    )
    cost = {
        one["variant"]: one["mean"]
        for one in result["conclusions"]["estimates"]
        if one["metric"].startswith("app_cpu_us_per_request") and "coordinates" not in one
    }
    if result["conclusions"]["session"] == "ok":
        assert cost[SHOP["after"]] > 1.1 * cost[SHOP["before"]], cost
    ran = Counter[str]()
    for one in result["conclusions"]["estimates"]:
        if one["metric"] == "statements_per_request" and [*one["coordinates"]] == ["statement"]:
            ran[one["variant"]] += one["mean"]
    assert ran == {SHOP["before"]: pytest.approx(1, abs=0.1), SHOP["after"]: pytest.approx(26, abs=1)}
    windows: list[Any] = [
        w for trial in trials for record in trial["windows"] for w in record["windows"].values()
    ]
    assert windows
    assert not [one for window in windows for one in window["findings"] if one["severity"] == "invalid"], (
        windows
    )
    assert any(window["tap"]["compared"] for window in windows if window.get("tap")), "read on the wire"


def test_a_server_of_a_distribution_takes_part(tmp_path: Path) -> None:
    """nginx starts as root, listens on port 80, has no /healthz, and compresses. Without HAProxy its connections are counted."""
    own = ("--image", NGINX, "--port", "80", "--get", "/", "--env", 'A=é "$B"', "--topology", "direct")
    _, result, said = tandem("bench", *own, "--plan", ONE_TRIAL, results=tmp_path)
    assert windows(tmp_path)[0]["established"] >= 20, "of port 80, as of 8080"
    assert result["verdict"] in ("ok", "void"), said
    [estimate] = [one for one in result["conclusions"]["estimates"] if one["metric"] == "goodput_rps"]
    assert estimate["mean"] is None or estimate["mean"] > 500
    assert not bench_containers()


@pytest.mark.parametrize("path", ["/cart", "/quote"])
def test_what_is_wrong_under_load_alone_is_invalid(tmp_path: Path, path: str) -> None:
    """Beside a time that may differ, too."""
    own = ["--image", SHARING]
    if path == "/quote":
        (file := tmp_path / "quote.toml").write_text(
            f'database = "{DATA[1]}"\n[[request]]\nmethod = "POST"\npath = "/quote"\nbody = \'{{"7": 2}}\'\nignore = ["at"]\n'
        )
        own += ["--service", str(file)]
    else:
        own += ["--get", "/cart/{id}", "--ids", "0-49", *DATA]
    _, result, said = tandem("bench", *own, "--plan", ONE_TRIAL, results=tmp_path / "results")
    assert result["verdict"] == "invalid", said
    assert not bench_containers()


def test_a_service_file_asks_for_several_things(tmp_path: Path) -> None:
    """The example's: nine carts for each quote, whose answer has the time in it. Each class is compared on the wire."""
    own = ("--service", str(ROOT / "examples/shop/shop.toml"), "--image", SHOP["before"])
    _, result, said = tandem("bench", *own, "--plan", ONE_TRIAL, results=tmp_path)
    assert result["verdict"] in ("ok", "void"), said
    for window in windows(tmp_path):
        shares = {one["name"]: one["goodput_rps"] / window["goodput_rps"] for one in window["classes"]}
        assert shares == {"cart": pytest.approx(0.9, abs=0.05), "quote": pytest.approx(0.1, abs=0.05)}
        assert min(window["tap"]["compared_of_class"]) > 0
    assert not bench_containers()


def test_the_services_of_a_compose_file_run_beside_it(tmp_path: Path) -> None:
    """Its own is asked under its name, once it is healthy, and its CPU is part of the total. A variable of the measured one is swept."""
    (tmp_path / "compose.yaml").write_text(COMPOSE.format(image=SHOP["before"]))
    file = tmp_path / "front.toml"
    file.write_text('compose = "compose.yaml"\nservice = "web"\n[[request]]\npath = "/"\n')
    own = ("--service", str(file), "--image", FRONT)
    _, result, said = tandem("bench", *own, "--plan", ONE_TRIAL, results=tmp_path / "bench")
    assert result["verdict"] in ("ok", "void"), said
    for window in windows(tmp_path / "bench"):
        assert window["roles"]["own-prices"]["cpu_cores"] > 0
    assert '"own-prices": "sha256:' in json.dumps(result["environments"])
    over = ("--over", "env:COPIES=1,3", "--rounds", "2")
    _, swept, said = tandem("sweep", *own, *over, "--plan", ONE_TRIAL, results=tmp_path / "sweep")
    assert {one["coordinates"]["COPIES"] for one in swept["conclusions"]["estimates"]} == {1, 3}
    assert swept["verdict"] == "invalid", "three copies of the price are another answer"
    assert not bench_containers()


@pytest.mark.weekly
@pytest.mark.parametrize("kind", KINDS)
def test_services_of_many_kinds_take_part(tmp_path: Path, kind: str) -> None:
    """Go's image has no shell; none has /healthz."""
    name = f"tandem-test/{kind}:1"
    source, text, recipe = KINDS[kind]
    (context := tmp_path / "context").mkdir()
    (context / source).write_text(text)
    (context / "Dockerfile").write_text(recipe)
    done = run("docker", "buildx", "build", "--load", "-t", name, str(context))
    assert done.returncode == 0, done.stderr
    try:
        _, result, said = tandem(
            "bench", "--image", name, "--get", "/1", "--plan", ONE_TRIAL, results=tmp_path / "results"
        )
    finally:
        run("docker", "image", "rm", "-f", name)
    assert result["verdict"] in ("ok", "void"), said
    assert all(window["good"] > 100 for window in windows(tmp_path / "results"))


def test_what_cannot_be_compared_is_told_before_anything_is_measured() -> None:
    shop = ("--image", SHOP["before"], "--get", "/cart/7", *DATA)
    told = refused(*shop, "--image", NGINX, "--port", "80")
    assert "otherwise than" in told or "status 404" in told
    assert "otherwise each time" in refused("--image", CLOCK, "--get", "/")
    assert "no port for me" in refused("--image", SILENT, "--get", "/")
    assert "has no image 'nosuch:1'" in refused("--image", "nosuch:1", "--get", "/")
    changed = refused(*shop, "--image", CLOCK)
    assert f"{CLOCK} answers GET /cart/7 otherwise than {SHOP['before']}" in changed
    wrong = (
        ROOT / "results/.test-wrong.sql"
    )  # where the engine sees it: the tests' own folder is in their container
    wrong.write_text("create table line (cart integer);\nselect nonsense;\n")
    try:
        told = refused(*shop[:-1], str(wrong))
    finally:
        wrong.unlink()
    assert 'own.sql:2: ERROR: column "nonsense" does not exist' in told


@pytest.mark.weekly
def test_nights_of_a_readers_own_have_a_history(tmp_path: Path) -> None:
    """The second night measures another image against the one that the first night froze."""
    for number, folder in enumerate(SHOP, start=1):
        own = ("--image", SHOP[folder], "--get", "/cart/{id}", "--ids", "0-49", *DATA)
        _, found, said = tandem(
            "nightly", *own, "--plan", ONE_TRIAL, "--blocks", "1", "--machine", "trial", results=tmp_path
        )
        if found["result"]["verdict"] == "void":
            pytest.skip(f"the host voided every block: {said}")
        known = files.read(tmp_path / "history/trial")
        assert (len(known.nights), [*known.frozen]) == (number, ["harness/service"])
    lines = {(one.line, one.metric): one.value for one in known.nights[1].points}
    assert (
        lines["today", "duet_cpu_us_per_request"] > math.log(1.1) > lines["frozen", "duet_cpu_us_per_request"]
    )
    assert not bench_containers()
