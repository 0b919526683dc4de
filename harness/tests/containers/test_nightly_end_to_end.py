"""`tandem nightly` with real containers: freezes, measures, keeps a history, refuses a second one."""

import json
from pathlib import Path

import pytest
from harness_commands import ONE_TRIAL, TANDEM, bench_containers, run, tandem, words

from tandem.history import files

pytestmark = pytest.mark.docker

NIGHTLY = ("nightly", "rust-async", "--scenario", "index", "--plan", ONE_TRIAL, "--machine", "trial")


@pytest.mark.weekly
def test_a_night_begins_a_history(kept: Path) -> None:
    status, found, said = tandem(*NIGHTLY, "--blocks", "2", "--seed", "1", results=kept)
    history = kept / "history/trial"
    nights = [json.loads(file.read_text()) for file in sorted(history.glob("nights/*.json"))]
    if found["result"]["verdict"] == "void":
        pytest.skip(f"the host voided every block: {said}")
    assert status == 0, said
    assert len(nights) == 1
    lines = {(point["metric"], point["line"]) for night in nights for point in night["points"]}
    assert {("duet_cpu_us_per_request", line) for line in ("today", "frozen", "weather")} <= lines
    [frozen] = [json.loads(file.read_text()) for file in history.glob("frozen/*.json")]
    tag = frozen["program"]["tag"]
    assert nights[0]["programs"]["rust-async"]["tag"] == tag, "the first night freezes its own image"
    assert run("docker", "image", "inspect", f"tandem/rust-async:{tag}").returncode == 0
    [stack] = [json.loads(file.read_text())["images"] for file in history.glob("stacks/*.json")]
    assert {*stack} == {"db", "pgbouncer", "proxy", "loadgen"}
    assert nights[0]["stack"] == stack
    assert nights[0]["frozen_images"] == nights[0]["programs"], "its own image, with its base"
    assert nights[0]["programs"]["rust-async"]["base"] == stack["db"]["base"], "both stand on the same Debian"
    assert nights[0]["kernel"]
    for name, role in (("db", "db"), ("loadgen-oha", "loadgen")):
        assert run("docker", "image", "inspect", f"tandem/{name}:{stack[role]['tag']}").returncode == 0
    assert {one["said"] for one in found["judged"]} == {"learning"}
    assert not bench_containers()
    # The same image under the same conditions: what was measured ran the tag, and not a build.
    [record] = kept.glob("*-nightly-rust-async-*/programs.json")
    programs = json.loads(record.read_text())
    assert programs["rust-async"] == programs[f"rust-async@{tag}"]
    assert programs["db"].startswith(stack["db"]["tag"]), "what ran was the frozen one"

    _, again, said = tandem(*NIGHTLY, "--blocks", "2", "--seed", "2", results=kept)
    if again["result"]["verdict"] == "void":
        pytest.skip(f"the host voided every block of the second night: {said}")
    known = files.read(history)
    assert (len(known.nights), len([*history.glob("frozen/*.json")])) == (2, 1), "it finds the first one's"
    assert known.nights[1].programs["rust-async"].tag == tag


def test_a_frozen_image_that_nothing_can_make_is_refused(kept: Path) -> None:
    """Its commit is not in this clone."""
    folder = kept / "history/lost/frozen"
    folder.mkdir(parents=True)
    program = {"tag": "lost00000000", "commit": "0" * 40}
    frozen = {"implementation": "rust-async", "program": program, "frozen_at": "2026-01-01T00:00:00Z"}
    (folder / "rust-async-old.json").write_text(json.dumps(frozen))
    done = run(*TANDEM, *NIGHTLY[:-1], "lost", "--blocks", "1", TANDEM_RESULTS=str(kept))
    assert done.returncode == 1
    assert "tandem/rust-async:lost00000000 is missing" in words(done.stderr)
    assert "--freeze" in words(done.stderr)
    assert not [*kept.glob("history/lost/nights/*")]


def test_the_second_of_two_is_refused(kept: Path) -> None:
    """Before it builds or measures anything."""
    with files.locked(kept / "history/trial"):
        done = run(*TANDEM, *NIGHTLY, "--blocks", "1", TANDEM_RESULTS=str(kept))
    assert done.returncode == 1
    assert "another nightly uses" in words(done.stderr)
    assert "images:" not in words(done.stderr)
