"""asynctest in its container, and `tandem reproduce` with it."""

import json
import subprocess
from pathlib import Path

import pytest
from harness_commands import TANDEM, printed, run, tandem, tandem_interrupted, words
from harness_places import EXPERIMENTS

from tandem.errors import TandemError
from tandem.judge.file_io import Case, counting, read
from tandem.lab.file_io import IMAGE, FileIoContainer
from tandem.record.result import per_variant
from tandem.record.trial import Trial

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]

EXPERIMENT = str(EXPERIMENTS / "tiny-files.toml")
IN_MEMORY = "uid=10001,size=8m"


@pytest.fixture(scope="module", autouse=True)
def _image(root: Path) -> None:
    FileIoContainer(root).build()


def leftovers() -> str:
    label = ["--filter", "label=dev.tandem=files"]
    listed = (["docker", "ps", "-aq", *label], ["docker", "volume", "ls", "-q", *label])
    return "".join(subprocess.run(c, capture_output=True, text=True, check=True).stdout for c in listed)


def test_an_experiment_with_files(tmp_path: Path) -> None:
    status, found, said = tandem("reproduce", EXPERIMENT, "--seed", "5", results=tmp_path)
    assert (status, found["verdict"]) in ((0, "ok"), (1, "void")), said  # void: the host, and twice
    if found["verdict"] == "void":
        pytest.skip("the host disturbed every attempt")
    rows = {row["label"]: row for row in found["conclusions"]["rows"]}
    figures = {(one["variant"], one["metric"]): one for one in found["conclusions"]["estimates"]}
    assert all(row["made"] >= 2 for row in rows.values())
    assert all("the hypervisor took" in reason for reason in found["reasons"]), (
        "nothing else may be in the way"
    )
    for label in ("tokio tasks", "one thread", "tight loop"):
        good = rows[label]["good"]
        assert figures[label, "time_ms"]["n"] == good, "a start that was disturbed does not count"
        assert figures[label, "cpu_ms"]["mean"] > 0
    assert figures["tight loop", "loop_ratio"]["mean"] == 1
    tokio, one = (figures[label, "time_ms"]["mean"] for label in ("tokio tasks", "one thread"))
    assert tokio > one
    for label in ("io_uring", "one thread, cold"):  # what the kernel or the disk does not let is said
        assert figures[label, "time_ms"]["mean"] or rows[label]["warnings"]
    assert per_variant(found["environments"])["file-io"]["versions"]["tokio"]
    [folder] = tmp_path.glob("*-reproduce-tiny-files-smoke")
    trials = [Trial.model_validate_json(file.read_text()) for file in folder.glob("trials/*.json")]
    assert len([trial for trial in trials if trial.spec.attempt == 1]) == 4, "two blocks of two cases"
    assert len(list(folder.glob("raw/*/asynctest.json"))) == len(trials)
    assert "tokio is behind" in printed(folder / "result.json", "--markdown")
    assert not leftovers()


def test_an_interrupted_one_goes_on(tmp_path: Path) -> None:
    tandem_interrupted("reproduce", EXPERIMENT, "--seed", "5", results=tmp_path, once="*/trials/*.json")
    assert not leftovers()
    [made, *_] = sorted(tmp_path.glob("*/trials/*.json"))
    before = made.stat().st_mtime_ns
    status, found, said = tandem("reproduce", EXPERIMENT, "--resume", results=tmp_path)
    assert (status, found["verdict"]) in ((0, "ok"), (1, "void")), said
    assert found["request"]["seed"] == 5
    assert made.stat().st_mtime_ns == before
    assert len(list(tmp_path.glob("*/result.json"))) == 1


def test_a_scale_changes_what_is_made(tmp_path: Path) -> None:
    refused = run(*TANDEM, "reproduce", EXPERIMENT, "--scale", "2")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--scale takes a share" in words(refused.stderr)
    tandem("reproduce", EXPERIMENT, "--scale", "0.05", results=tmp_path)
    [file, *_] = tmp_path.glob("*/raw/*/asynctest.json")
    assert json.loads(file.read_text())["asked"]["lines"] == 20_000


@pytest.mark.parametrize(
    ("options", "asked", "told"),
    [
        (
            IN_MEMORY,
            ["1", "1000000"],
            r"1 files with 1000000 lines need 30\.\d MB .* at most 2[67]\d{4} lines fit",
        ),
        (f"{IN_MEMORY},nr_inodes=6", ["10", "1000"], "became full: free some space or ask for fewer lines"),
    ],
)
def test_a_disk_that_is_too_small(root: Path, options: str, asked: list[str], told: str) -> None:
    with pytest.raises(TandemError, match=told) as error:
        FileIoContainer(root, options).run(asked)
    assert "ended with status 1" in str(error.value)
    assert not leftovers()


def test_files_in_memory_are_never_cold(root: Path) -> None:
    case = Case(files=2, lines=20_000, cache="cold")
    document = read(FileIoContainer(root, IN_MEMORY).run(case.arguments(["test04"], "1")))
    found, [finding] = counting(document, case, "test04")
    assert (found.figures, finding.severity) == ({}, "warning")
    assert "did not leave the page cache" in finding.text


def test_a_refusal_of_io_uring_is_no_failure(tmp_path: Path) -> None:
    refusal = {"names": ["io_uring_setup"], "action": "SCMP_ACT_ERRNO"}
    profile = tmp_path / "no-io-uring.json"
    profile.write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [refusal]}))
    options = ["--rm", "--security-opt", f"seccomp={profile}", "--tmpfs", f"/data:{IN_MEMORY}"]
    asked = ["sample", "2", "1000", "--only", "test04,test12,test13"]
    done = subprocess.run(
        ["docker", "run", *options, IMAGE, *asked], capture_output=True, text=True, check=True
    )
    document = read(done.stdout)
    refused = {way.name: way.unavailable for way in document.ways if way.unavailable}
    assert refused.keys() == {"test12", "test13"}
    assert all("seccomp" in reason for reason in refused.values())
    assert [made.name for made in document.measurements] == ["test04"]
