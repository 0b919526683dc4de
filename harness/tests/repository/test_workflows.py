"""The workflows of .github: sound by zizmor, actions pinned by digest, what they call exists, matrices come from the harness."""

import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
import yaml
from harness_commands import run
from harness_places import ROOT

from checks import changed, release
from tandem.catalog.catalog import Catalog
from tandem.errors import UsageError
from tandem.lab.provenance import TANDEM_VERSION

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d")


def test_zizmor_finds_nothing() -> None:
    tool = Path(sys.executable).with_name("zizmor")
    done = run(str(tool), "--offline", "--no-progress", str(ROOT / ".github"))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_actions_are_pinned_and_rights_are_given_job_by_job(workflow: Path) -> None:
    text = workflow.read_text()
    uses = [line for line in text.splitlines() if "uses:" in line]
    assert all(PINNED.search(line) for line in uses)
    found = yaml.safe_load(text)
    assert found["permissions"] == {}
    assert all("permissions" in job and "timeout-minutes" in job for job in found["jobs"].values())
    assert "secrets." not in text


def test_workflows_call_commands_that_exist() -> None:
    recipes = set(re.findall(r"^@?(\w+) \*arguments:", (ROOT / "justfile").read_text(), re.MULTILINE))
    called = {name for file in WORKFLOWS for name in re.findall(r"\./bootstrap (\w+)", file.read_text())}
    assert {"changed", "images", "nightly", "test", "verify"} <= called <= recipes


# ---- matrices ----


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["docs/method.md", "README.md"], []),
        (["node/src/main.ts"], ["node"]),
        (["rust-sync/Cargo.lock", "node/README.md"], ["node", "rust-sync"]),
        (["common/python/src/shared/models.py"], ["python-async", "falcon-asyncpg", "django-async"]),
    ],
)
def test_a_change_touches_who_is_made_of_it(real: Catalog, paths: list[str], expected: list[str]) -> None:
    found = changed.touched(real, paths)
    assert set(expected) <= set(found)
    assert bool(found) is bool(expected)
    assert "cpp-sync" not in found


@pytest.mark.parametrize("path", ["contract/openapi.yaml", "harness/tandem/errors.py", "compose.yaml"])
def test_what_all_share_touches_all(real: Catalog, path: str) -> None:
    assert changed.touched(real, [path]) == list(real.implementations)


def test_every_run_proves_one_of_each_language_and_what_changed(real: Catalog) -> None:
    always = changed.proved(real, ["harness/tandem/errors.py"])
    assert {real.implementations[name].language for name in always} == {
        one.language for one in real.implementations.values()
    }
    assert len(always) == len({real.implementations[name].language for name in always})
    assert {*changed.proved(real, ["rust-sync/src/main.rs"])} == {*always, "rust-sync"}
    assert changed.proved(real, ["rust-sync/README.md"]) == always
    assert changed.proved(real, None) == list(real.implementations), "a shallow clone knows of no change"


def test_what_changed_is_all_that_six_hours_brought(tmp_path: Path) -> None:
    """Also where several commits came at once. Without a commit of before nobody knows."""

    def commit(name: str, when: str) -> None:
        (tmp_path / name).write_text(name)
        git("add", name)
        git("-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", name, when=when)

    def git(*words: str, when: str = "") -> None:
        dates = {"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
        subprocess.run(["git", *words], cwd=tmp_path, check=True, env={**os.environ, **dates})

    git("init", "-q")
    commit("old", "2026-01-01T12:00:00+00:00")
    assert changed.recent(tmp_path) is None
    commit("before", "2026-01-10T06:00:00+00:00")
    commit("new", "2026-01-10T12:00:00+00:00")
    commit("newer", "2026-01-10T14:00:00+00:00")
    assert changed.recent(tmp_path) == ["new", "newer"]


def test_every_image_that_is_run_is_published(real: Catalog) -> None:
    found = changed.images(real)
    names = {image.name for image in found}
    services = {"db", "pgbouncer", "faults", "proxy"}
    services |= {f"loadgen-{one}" for one in ("oha", "vegeta", "wrk", "drill", "all")}
    assert names == {*real.implementations, *services, *changed.BESIDES}
    assert all((ROOT / image.dockerfile).is_file() for image in found)


# ---- release ----


def test_the_version_is_the_same_everywhere() -> None:
    assert set(release.versions(ROOT).values()) == {TANDEM_VERSION}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in (*release.PLACES, release.CHANGELOG):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    return tmp_path


def test_a_release_writes_the_version_everywhere(copy: Path) -> None:
    release.release(copy, "9.1.0", date(2026, 2, 3))
    assert set(release.versions(copy).values()) == {"9.1.0"}
    text = (copy / release.CHANGELOG).read_text()
    assert "## Unreleased\n\n## 9.1.0 (2026-02-03)\n" in text
    assert "date-released: 2026-02-03\n" in (copy / release.CITED).read_text()
    with pytest.raises(UsageError, match="nothing stands under"):
        release.release(copy, "9.2.0", date(2026, 2, 4))
    assert set(release.versions(copy).values()) == {"9.1.0"}, "nothing was written"


@pytest.mark.parametrize(("version", "told"), [("1.2", "three numbers"), ("0.0.9", "does not come after")])
def test_a_version_that_cannot_be_released(copy: Path, version: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        release.release(copy, version, date(2026, 2, 3))
