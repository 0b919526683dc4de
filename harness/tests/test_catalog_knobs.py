"""tandem.catalog: the knobs of the contract, and which of them a run may set."""

from pathlib import Path

import pytest

from tandem.catalog import Catalog, Implementation, Unsupported
from tandem.errors import UsageError


@pytest.fixture(scope="module")
def real(root: Path) -> Catalog:
    return Catalog(root)


def implementation(**changes: object) -> Implementation:
    fields = {"name": "x", "title": "X", "language": "l", "model": "sync", "stack": [], **changes}
    return Implementation.model_validate(fields)


def test_knobs_are_the_choice_else_the_implementations_best_else_the_contracts(real: Catalog) -> None:
    own = implementation(defaults={"WORKERS": "2*cpus+1", "THREADS": "10"})
    found = real.effective_knobs(own, 4, {"THREADS": "3", "DB_PREPARE": "0"})
    assert (found["WORKERS"], found["THREADS"], found["DB_PREPARE"]) == ("9", "3", "0")
    assert (found["DB_POOL_MAX"], found["LOG_LEVEL"], found["DB_RESET"]) == ("20", "warn", "0")
    assert "PORT" not in found
    assert "DATABASE_URL" not in found


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"WORKERZ": "1"}, "no knob 'WORKERZ'. Did you mean 'WORKERS'"),
        ({"DB_PREPARE": "yes"}, "DB_PREPARE must be one of 0, 1, not 'yes'"),
        ({"LOG_LEVEL": "WARN"}, "LOG_LEVEL must be one of debug, info, warn, error, not 'WARN'"),
        ({"OFFLOAD": "sum"}, "x cannot vary OFFLOAD: it has no loop"),
        ({"DATABASE_URL": "postgresql://elsewhere"}, "DATABASE_URL is set by the topology"),
        ({"PORT": "1"}, "PORT is set by the topology"),
    ],
)
def test_knobs_that_cannot_be(real: Catalog, chosen: dict[str, str], told: str) -> None:
    own = implementation(unsupported=Unsupported(knobs={"OFFLOAD": "it has no loop"}))
    with pytest.raises(UsageError) as refusal:
        real.effective_knobs(own, 4, chosen)
    assert told in str(refusal.value)


def test_a_malformed_knobs_file(tmp_path: Path) -> None:
    (tmp_path / "contract").mkdir()
    (tmp_path / "contract/knobs.toml").write_text('[WORKERS]\nmeaning = "no default"\n')
    with pytest.raises(UsageError, match=r"knobs\.toml: .*default: Field required"):
        _ = Catalog(tmp_path).knobs
