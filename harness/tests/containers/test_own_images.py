"""`--image`: services that know nothing of the contract, from the example of the documents and from a distribution."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness_commands import ONE_TRIAL, TANDEM, bench_containers, run, tandem, words
from harness_places import PLANS, ROOT

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]

SHOP = {folder: f"tandem-test/shop:{folder}" for folder in ("before", "after")}
NGINX, CLOCK, SILENT, SHARING = (f"tandem-test/{name}:1" for name in ("nginx", "clock", "silent", "sharing"))
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
    # Threads that share one connection get each other's rows: right when asked one after the other, and wrong under load.
    SHARING: """
FROM tandem-test/shop:before
USER root
RUN sed -i 's/own = local()/own = type("Shared", (), {})/; s/uri=True/uri=True, check_same_thread=False/' shop.py
USER nobody
""",
    SILENT: 'FROM tandem-test/shop:before\nCMD ["sh", "-c", "echo no port for me; exit 3"]\n',
}


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
    [trial] = [json.loads(file.read_text()) for file in tmp_path.glob("*/trials/*.json")][:1]
    assert next(iter(trial["windows"][0]["windows"].values()))["established"] >= 20, "of port 80, as of 8080"
    assert result["verdict"] in ("ok", "void"), said
    [estimate] = [one for one in result["conclusions"]["estimates"] if one["metric"] == "goodput_rps"]
    assert estimate["mean"] is None or estimate["mean"] > 500
    assert not bench_containers()


def test_what_is_wrong_under_load_alone_is_invalid(tmp_path: Path) -> None:
    arguments = ("bench", "--image", SHARING, "--get", "/cart/7", "--plan", ONE_TRIAL)
    _, result, said = tandem(*arguments, results=tmp_path)
    assert result["verdict"] == "invalid", said
    assert not bench_containers()


def test_what_cannot_be_compared_is_told_before_anything_is_measured() -> None:
    shop = ("--image", SHOP["before"], "--get", "/cart/7")
    told = refused(*shop, "--image", NGINX, "--port", "80")
    assert "otherwise than" in told or "status 404" in told
    assert "otherwise each time" in refused("--image", CLOCK, "--get", "/")
    assert "no port for me" in refused("--image", SILENT, "--get", "/")
    assert "has no image 'nosuch:1'" in refused("--image", "nosuch:1", "--get", "/")
    changed = refused("--image", SHOP["before"], "--image", CLOCK, "--get", "/cart/7")
    assert f"{CLOCK} answers GET /cart/7 otherwise than {SHOP['before']}" in changed
