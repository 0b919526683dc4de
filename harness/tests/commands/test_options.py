"""tandem.cli: the options of a command line, how their texts are read, and the request they make."""

from dataclasses import fields

import pytest
import typer.main
from harness_places import ROOT

import tandem.commands.main  # noqa: F401 (it adds the commands)
from tandem.catalog.catalog import Catalog
from tandem.cli import measure
from tandem.cli.options import app, parse_budget_s, read_variant, read_variants
from tandem.cli.shared import Asked
from tandem.errors import UsageError
from tandem.record.selftest import Status


def test_a_name_alone_and_with_settings_and_one_named_twice() -> None:
    assert read_variant("node").settings == {}
    found = read_variant("node:DB_POOL_MAX=4,DB_PREPARE=0")
    assert (found.implementation, found.settings) == ("node", {"DB_POOL_MAX": "4", "DB_PREPARE": "0"})
    assert found.label == "node:DB_POOL_MAX=4,DB_PREPARE=0"
    assert [one.label for one in read_variants(["node", "node", "rust-async"])] == ["node", "rust-async"]


@pytest.mark.parametrize("text", ["node:", "node:DB_POOL_MAX", "node:DB_POOL_MAX=4,", "node:A=1,A=2"])
def test_what_is_not_a_setting_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"SETTING=VALUE|twice"):
        read_variant(text)


def test_each_request_has_data_of_its_own() -> None:
    """Drawn by its seed: the same command with the same seed asks for the same bodies."""
    found = [
        Asked(plan="smoke", seed=seed).request("bench", Catalog(ROOT), read_variants(["node"]))
        for seed in (7, None, None)
    ]
    assert found[0].salt == "7"
    assert found[1].salt == str(found[1].seed) != found[2].salt


def test_a_budget() -> None:
    texts = {"2h": 7200, "90m": 5400, "15min": 900, "600s": 600}
    assert {text: parse_budget_s(text) for text in texts} == texts
    for text in ("", "2", "15", "0h", "0min", "h", "min", "1.5h", "2 h", "-1s"):
        with pytest.raises(UsageError, match="2h, 15min or 600s"):
            parse_budget_s(text)


FIXED = {"topology", "placement", "setting", "db_rtt", "generators"}
WITHOUT = {
    **{name: set[str]() for name in ("bench", "capacity", "compare", "sweep", "explain")},
    "crossover": {"db_rtt"},
    "ceiling": {"topology", "setting", "db_rtt"},
    "crosscheck": {"topology", "setting", "plan", "seed"},
    "nightly": FIXED,
    "reproduce": {"scenario", *FIXED},
    "session": {"scenario", "plan", *FIXED},
}
"""Command -> the shared options that it has a reason to do without."""


def test_every_measuring_command_has_the_shared_options() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    shared = {one.name for one in fields(Asked)}
    assert {name: shared - {one.name for one in commands[name].params} for name in WITHOUT} == WITHOUT


def test_who_measures_for_the_record_needs_a_passed_selftest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "line", lambda *of: (Status.PASSED, "self-test: passed"))
    measure.refuse_untested(untested=False)
    monkeypatch.setattr(measure, "line", lambda *of: (Status.STALE, "self-test: stale"))
    with pytest.raises(UsageError, match="just selftest first"):
        measure.refuse_untested(untested=False)
    measure.refuse_untested(untested=True)
