"""`--lab`: what it asks for, and what it does not go with. Nothing is reached."""

from pathlib import Path
from typing import Any

import pytest

from tandem.catalog.catalog import Catalog
from tandem.cli.options import app_cpus, read_variants
from tandem.cli.shared import Asked
from tandem.engine import stand_ins
from tandem.errors import UsageError
from tandem.lab.prepare import VariantConditions, in_a_lab
from tandem.lab.sites import Sites
from tandem.record.request import Request
from tandem.report.parts import conditions_line
from tandem.studies.bench.conditions import CONDITIONS

LAB = "three-hosts"


def asked(catalog: Catalog, **options: Any) -> Request:
    variants = read_variants(["rust-async"])
    return Asked(plan="smoke", seed=1, **options).request("bench", catalog, variants)


def test_a_request_names_its_lab_and_is_not_that_of_another(real: Catalog) -> None:
    here, there = asked(real), asked(real, lab=LAB)
    assert (here.conditions.lab, there.conditions.lab) == (None, LAB)
    assert not here.same_but_for_the_seed(there)
    assert there.same_but_for_the_seed(asked(real, lab=LAB))
    assert f"lab {LAB}" in conditions_line(there)
    assert "placement" not in conditions_line(there)
    assert "lab" not in conditions_line(here)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"lab": "three"}, "there is no lab 'three'.* Did you mean 'three-hosts'"),
        ({"lab": LAB, "placement": "shared"}, "--lab and --placement both say which CPUs"),
    ],
)
def test_what_does_not_go_together_is_told_before_anything_is_reached(
    real: Catalog, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        asked(real, **options)


def test_some_studies_have_to_know_the_applications_cpus_before(real: Catalog, tmp_path: Path) -> None:
    assert app_cpus(real.lab(LAB)) == 2
    text = (real.root / "loadgen/labs/three-hosts.toml").read_text()
    (file := tmp_path / "no-cpus.toml").write_text(text.replace('cpus = {app = "2-3", proxy = "0-1"}', ""))
    with pytest.raises(UsageError, match="give application a CPU set for each of its roles"):
        app_cpus(real.lab(str(file)))


def test_each_host_for_generators_has_one_and_none_is_left_idle(real: Catalog, tmp_path: Path) -> None:
    text = (real.root / "loadgen/labs/three-hosts.toml").read_text()
    file = tmp_path / "two-generators.toml"
    file.write_text(
        text.replace('roles = ["app", "proxy"]', 'roles = ["app", "proxy", "loadgen"]').replace(
            'cpus = {app = "2-3", proxy = "0-1"}', ""
        )
    )
    assert asked(real, lab=LAB).conditions.generators == 1
    assert asked(real, lab=str(file)).conditions.generators == 2
    assert asked(real, lab=str(file), generators=5).conditions.generators == 5
    three = text.replace('roles = ["app", "proxy"]', 'roles = ["app", "proxy", "loadgen"]')
    three = three.replace('cpus = {app = "2-3", proxy = "0-1"}', "").replace(
        'roles = ["db", "pgbouncer"]\n', 'roles = ["db", "pgbouncer", "loadgen"]\n'
    )
    file.write_text(three.replace('cpus = {db = "1-3", pgbouncer = "0"}', ""))
    with pytest.raises(
        UsageError, match=r"loadgen is on .*, and 2 generators would leave a host idle: use 3"
    ):
        asked(real, lab=str(file), generators=2)


def test_a_lab_has_the_same_ceilings(real: Catalog) -> None:
    assert stand_ins.looked_at(real, asked(real, lab=LAB)) == ["null", "database"]


def test_a_host_is_told_every_way_that_requests_take_in_a_study(real: Catalog) -> None:
    here, there = asked(real), asked(real, lab=LAB)
    variants = [condition.of(there.variants[0], real) for condition in CONDITIONS]
    assert in_a_lab(real, here, variants, 2) == {}
    assert in_a_lab(real, there, variants, 1) == {
        "ROUTES": "app:8080>db:5432 proxy:8080>faults:6433 proxy:8080>pgbouncer:6432"
    }
    assert in_a_lab(real, there, there.variants, 2)["SLOTS"] == "2"


@pytest.mark.parametrize(("cpuset", "workers"), [("0-2", 3), ("", 8)])
def test_the_application_starts_for_the_cpus_that_it_has_there(
    real: Catalog, tmp_path: Path, cpuset: str, workers: int
) -> None:
    class There(Sites):
        def settings(self) -> dict[str, str]:
            return {"APP_CPUSET": cpuset}

        def of(self, service: str) -> Any:
            return type("P", (), {"host": type("H", (), {"cpus": 8})})

    wanted = asked(real, lab=LAB)
    conditions = VariantConditions.of(real, wanted, wanted.variants[0], There())
    assert conditions.app_cpus == workers
    assert conditions.effective_settings(real.implementation("rust-async"))["WORKERS"] == str(workers)
