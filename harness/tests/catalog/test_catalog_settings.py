"""tandem.catalog.catalog: the settings of the contract, and which of them a run may set."""

from pathlib import Path

import pytest

from tandem.catalog.catalog import Catalog, Implementation, Unsupported
from tandem.errors import UsageError


def implementation(**changes: object) -> Implementation:
    fields = {"name": "x", "title": "X", "language": "l", "model": "sync", "stack": [], **changes}
    return Implementation.model_validate(fields)


def test_settings_are_the_choice_else_the_implementations_best_else_the_contracts(real: Catalog) -> None:
    own = implementation(defaults={"WORKERS": "2*cpus+1", "THREADS": "10"})
    found = real.effective_settings(own, 4, {"THREADS": "3", "DB_PREPARE": "0"})
    assert (found["WORKERS"], found["THREADS"], found["DB_PREPARE"]) == ("9", "3", "0")
    assert (found["DB_POOL_MAX"], found["LOG_LEVEL"], found["DB_RESET"]) == ("20", "warn", "0")
    assert "PORT" not in found
    assert "DATABASE_URL" not in found


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"WORKERZ": "1"}, "no setting 'WORKERZ'. Did you mean 'WORKERS'"),
        ({"DB_PREPARE": "yes"}, "DB_PREPARE must be one of 0, 1, not 'yes'"),
        ({"LOG_LEVEL": "WARN"}, "LOG_LEVEL must be one of debug, info, warn, error, not 'WARN'"),
        ({"OFFLOAD": "sum"}, "x cannot vary OFFLOAD: it has no loop"),
        ({"DATABASE_URL": "postgresql://elsewhere"}, "DATABASE_URL is set by the topology"),
        ({"PORT": "1"}, "PORT is set by the topology"),
    ],
)
def test_settings_that_cannot_be(real: Catalog, chosen: dict[str, str], told: str) -> None:
    own = implementation(unsupported=Unsupported(settings={"OFFLOAD": "it has no loop"}))
    with pytest.raises(UsageError) as refusal:
        real.effective_settings(own, 4, chosen)
    assert told in str(refusal.value)


def test_a_value_beyond_the_contract_is_its_owners(real: Catalog) -> None:
    chosen = {"DB_PREPARE": "each"}
    for name in ("rust-async", "rust-sync"):
        assert real.effective_settings(real.implementation(name), 2, chosen)["DB_PREPARE"] == "each"
    with pytest.raises(UsageError, match="DB_PREPARE must be one of 0, 1, not 'each'"):
        real.effective_settings(real.implementation("cpp-sync"), 2, chosen)


@pytest.mark.parametrize("value", ["abc", "", "-1", "0", "1.5", " 2", "²"])
@pytest.mark.parametrize("name", ["WORKERS", "THREADS", "DB_POOL_MAX"])
def test_a_number_must_be_one(real: Catalog, name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"{name} must be a whole number from 1, not '{value}'"):
        real.effective_settings(implementation(), 2, {name: value})


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('[defaults]\nWORKRES = "cpus"', "defaults -> WORKRES: there is no setting 'WORKRES'. Did you mean"),
        (
            '[further_values]\nDB_PREPAR = ["each"]',
            "further_values -> DB_PREPAR: there is no setting 'DB_PREPAR'",
        ),
        (
            '[unsupported.settings]\nTHREAD = "none"',
            "unsupported -> settings -> THREAD: there is no setting 'THREAD'",
        ),
    ],
)
def test_an_implementation_that_names_an_unknown_setting(
    root: Path, tmp_path: Path, table: str, told: str
) -> None:
    for folder in ("contract", "one"):
        (tmp_path / folder).mkdir()
    (tmp_path / "contract/settings.toml").write_text((root / "contract/settings.toml").read_text())
    bench = 'title = "T"\nlanguage = "l"\nmodel = "async"\nstack = ["a"]\n'
    (tmp_path / "one/bench.toml").write_text(bench + table)
    with pytest.raises(UsageError) as refusal:
        Catalog(tmp_path).implementation("one")
    assert f"one/bench.toml: {told}" in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[WORKERS]\nmeaning = "no default"', "WORKERS -> default: Field required"),
        ("WORKERS = 3", "WORKERS: Input should be "),
        ('[WORKERS]\nname = "x"\ndefault = "1"\nmeaning = ""', "WORKERS -> name: comes from the table"),
    ],
)
def test_a_malformed_settings_file(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "contract").mkdir()
    (tmp_path / "contract/settings.toml").write_text(text)
    with pytest.raises(UsageError, match=rf"settings\.toml: {told}"):
        _ = Catalog(tmp_path).settings
