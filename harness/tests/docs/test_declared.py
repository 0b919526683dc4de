"""documents.pairs and documents.services: what two small folders declare, and what Debian's changelogs say of the services."""

import json
from pathlib import Path

import pytest

from documents.pairs import PAIRS, row
from documents.records import Records
from documents.services import FILE, packages, services
from tandem.catalog.catalog import Catalog

BENCH = """
title = "X, {model}"
language = "x"
model = "{model}"
stack = ["web", "{driver}"]
[defaults]
WORKERS = "{workers}"
THREADS = "32"
[unsupported.settings]
"""
LACKS = 'OFFLOAD = "a reason"\n'


def test_a_row_has_what_only_one_declares(tmp_path: Path) -> None:
    for model, driver, workers, lacks in (("sync", "d", "1", ""), ("async", "d-async", "cpus", LACKS)):
        (tmp_path / f"x-{model}").mkdir()
        text = BENCH.format(model=model, driver=driver, workers=workers)
        (tmp_path / f"x-{model}/bench.toml").write_text(text + lacks)
    assert row(Catalog(tmp_path), "x-sync", "x-async") == (
        "`x-sync`, `x-async`",
        "stack: d; defaults: `WORKERS=1`",
        "stack: d-async; defaults: `WORKERS=cpus`; settings that it lacks: `OFFLOAD`",
    )
    with pytest.raises(KeyError, match="x-none"):
        row(Catalog(tmp_path), "x-sync", "x-none")


def test_the_pairs_are_implementations(real: Catalog) -> None:
    assert {name for pair in PAIRS for name in pair} <= real.implementations.keys()
    assert len({*PAIRS}) == len(PAIRS)


CHANGELOGS = """\
pgbouncer (1.24.1-1+deb13u2) trixie; urgency=medium

  * Fix CVE-2026-6665: a stack overflow.
  * Fix CVE-2026-6664: a crash, as CVE-2026-6665 may be one.

 -- Christoph Berg <myon@debian.org>  Sun, 10 May 2026 11:44:27 +0200

pgbouncer (1.24.0-1) unstable; urgency=medium

  * Fix CVE-2025-12819 (Closes: #1).

 -- Christoph Berg <myon@debian.org>  Thu, 17 Apr 2025 10:21:09 +0200

pgbouncer (1.23.1-1) unstable; urgency=medium

  * Another branch: CVE-2020-1.

 -- Christoph Berg <myon@debian.org>  Wed, 12 Mar 2025 17:19:10 +0100

postgresql-17 (17.12-0+deb13u1) trixie-security; urgency=medium

  * New upstream version.

 -- Christoph Berg <myon@debian.org>  Mon, 09 Nov 2026 22:44:33 +0100
"""


def test_advisories_are_those_of_the_newest_branch_each_once() -> None:
    pgbouncer, database = packages(CHANGELOGS)
    assert pgbouncer == {
        "package": "pgbouncer",
        "version": "1.24.1-1+deb13u2",
        "day": "2026-05-10",
        "mended": ["CVE-2025-12819", "CVE-2026-6664", "CVE-2026-6665"],
        "before": ["CVE-2020-1"],
    }
    assert (database["package"], database["version"], database["mended"]) == (
        "postgresql-17",
        "17.12-0+deb13u1",
        [],
    )


def test_what_one_release_alone_mends_stands_beside_the_other(tmp_path: Path) -> None:
    many = [f"CVE-2026-{number}" for number in range(9)]
    of = {"trixie": (["CVE-2025-1", "CVE-2026-0"], ["CVE-2026-1"]), "forky": (many, [])}
    head = {"package": "haproxy", "version": "3.0", "day": "2026-11-18"}
    known = {
        release: [head | {"mended": mended, "before": before}] for release, (mended, before) in of.items()
    }
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_text(json.dumps(known))
    *_, trixie, forky = services(Records(tmp_path)).splitlines()
    row = "| `haproxy` | {} | 3.0 | 2026-11-18 | {} | {} |"
    assert trixie == row.format("trixie", "CVE-2025-1, CVE-2026-0", ", ".join(many[2:]))
    assert forky == row.format("forky", "9 advisories", "CVE-2025-1")
