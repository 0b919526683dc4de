"""checks.new, checks.shape: a folder that was just made takes part, and what a folder lacks is told with its remedy."""

import shutil
from pathlib import Path

import pytest
from harness_places import ROOT

from checks import new
from checks.shape import examine
from tandem.catalog.catalog import Catalog, Implementation
from tandem.errors import UsageError

NAME = "go-async"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What the catalog reads, and one implementation."""
    unneeded = shutil.ignore_patterns("__pycache__", "tests")
    for folder in ("contract", "loadgen", "compose"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=unneeded)
    (tmp_path / "node").mkdir()
    shutil.copy(ROOT / "node/bench.toml", tmp_path / "node")
    return tmp_path


@pytest.fixture
def made(copy: Path) -> Path:
    new.make(copy, NAME, "async", "go")
    return copy


# ---- new ----


@pytest.mark.parametrize("model", ["sync", "async"])
def test_a_new_folder_takes_part_with_everything_off(copy: Path, model: str) -> None:
    files = new.make(copy, NAME, model, "go")
    assert examine(copy, NAME) == []
    catalog = Catalog(copy)
    found = catalog.implementation(NAME)
    assert (found.model, found.tier, found.language) == (model, "core", "go")
    assert found.unsupported.scenarios.keys() == catalog.scenarios.keys()
    assert found.unsupported.settings.keys() == catalog.settings.keys() - new.WORKS
    assert catalog.effective_settings(found, 2, {})["DB_POOL_MAX"] == "20"
    assert {file.relative_to(copy / NAME).as_posix() for file in files} == {
        *(
            "README.md",
            "bench.toml",
            "Dockerfile",
            "Dockerfile.dockerignore",
            "src/main.py",
            "tests/test_main.py",
        )
    }
    assert not [file for file in files if file.suffix != ".py" and "$" in file.read_text()]


def test_the_example_names_every_key(made: Path) -> None:
    text = (made / NAME / "bench.toml").read_text()
    for key in Implementation.model_fields.keys() - {"name", "unsupported", "bridge"}:
        assert f"\n{key} = " in text or f"\n[{key}]" in text, key


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("node", "node exists"),
        ("Go", "'Go' is not a valid name"),
        ("../x", "'../x' is not a valid name"),
        ("go_async", "is not a valid name"),
        ("a" * 41, "is not a valid name"),
    ],
)
def test_a_bad_or_taken_name_is_refused(copy: Path, name: str, told: str) -> None:
    before = sorted(copy.rglob("*"))
    with pytest.raises(UsageError, match=told.replace("../x", r"\.\./x")):
        new.make(copy, name, "async", "go")
    with pytest.raises(UsageError, match="is not a valid language"):
        new.make(copy, NAME, "async", "Go Lang")
    assert sorted(copy.rglob("*")) == before


# ---- shape ----


@pytest.mark.parametrize("name", sorted(file.parent.name for file in ROOT.glob("*/bench.toml")))
def test_every_implementation_has_the_shape(name: str) -> None:
    assert examine(ROOT, name) == []


@pytest.mark.parametrize(
    ("file", "old", "new_", "found", "remedy"),
    [
        ("bench.toml", 'stack = ["', 'stack = "', "not TOML", "toml.io"),
        ("bench.toml", 'model = "async"', 'model = "asink"', "model: Input should be 'sync', 'async' or 'green'", 'A text: "sync"'),
        ("bench.toml", "pool_tells = false", 'pool_tells = "no!"', "pool_tells: Input should be a valid boolean", "true or false"),
        ("bench.toml", "stack = [", "stak = [", "no key 'stak'", "Did you mean 'stack'?"),
        ("bench.toml", 'tier = "core"', 'tier = "hard"', "tier: Input should be", '"core" is'),
        ("bench.toml", "language = ", "# ", "language: Field required", "the programming language"),
        ("bench.toml", '# WORKERS = "cpus"', 'WORKERS = "all"', "defaults -> WORKERS", "cpus"),
        ("bench.toml", '# WORKERS = "cpus"', 'WORKER = "cpus"', "[defaults] there is no setting 'WORKER'", "Did you mean 'WORKERS'?"),
        ("bench.toml", "users = ", "user = ", "no scenario 'user'", "Did you mean 'users'?"),
        ("bench.toml", "DB_RESET = ", "DB_RESTE = ", "no setting 'DB_RESTE'", "Did you mean 'DB_RESET'?"),
        ("bench.toml", "[unsupported.settings]", "[unsupported.knobs]", "no key of [unsupported] 'knobs'", "called 'settings'"),
        ("bench.toml", "[unsupported.scenarios]", "[unsupported.scenario]", "no key of [unsupported] 'scenario'", "'scenarios'"),
        ("Dockerfile", "AS test", "AS tests", "no stage `test`", "linters"),
        ("Dockerfile", "USER tandem", "", "runs as root", "USER tandem"),
        ("Dockerfile", "CMD [", "# [", "has neither CMD nor ENTRYPOINT", "CMD"),
        ("Dockerfile", "USER tandem", "USER 0:0", "runs as root", "USER tandem"),
        ("Dockerfile.dockerignore", "*\n", "\n", "does not begin with a line *", "contract/sql/queries"),
        ("README.md", "## Request path", "## Requests", "its headings are Stack,", "Request path"),
    ],
)  # fmt: skip
def test_a_flaw_is_told_with_its_remedy(
    made: Path, file: str, old: str, new_: str, found: str, remedy: str
) -> None:
    path = made / NAME / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new_, 1))
    [flaw, *more] = examine(made, NAME)
    assert flaw.file == file
    assert found in flaw.found
    assert remedy in flaw.remedy
    assert not more


@pytest.mark.parametrize("file", ["bench.toml", "Dockerfile", "Dockerfile.dockerignore", "README.md"])
def test_a_missing_file_is_told(made: Path, file: str) -> None:
    (made / NAME / file).unlink()
    [flaw] = examine(made, NAME)
    assert flaw.file == file
    assert "missing" in flaw.found
