"""tandem.probes.data_changes: which tables the contract's statements need. What it does to them is seen in
tests/containers/test_conditions.py."""

import re

from harness_places import ROOT

from tandem.probes.data_changes import tables_in
from tandem.probes.postgres import read_texts


def test_the_tables_of_every_statement_exist() -> None:
    known = set(re.findall(r"create table (\w+)", (ROOT / "contract/sql/schema.sql").read_text()))
    named = {name: tables_in([text]) for name, text in read_texts(ROOT / "contract/sql/queries").items()}
    assert all(tables and tables <= known for tables in named.values()), named
    assert set().union(*named.values()) == known
    assert named["recipe_by_id"] == {"core_recipe", "core_membership"}
