"""Sessions as tests need them: two machines, one contrast of one pair."""

from datetime import UTC, datetime, timedelta
from typing import Any

from harness_places import ROOT

from tandem.catalog.catalog import Catalog
from tandem.facts.session import SessionMachine, SessionProgram, SessionRecord, name_of
from tandem.facts.statement import defaults_now
from tandem.record.conclusion import Contrast

MILAN = SessionMachine(
    cpu_vendor="AuthenticAMD", cpu_model="AMD EPYC", cpu_family="25", cpu_model_number="1", cpu_stepping="1"
)
XEON = SessionMachine(
    cpu_vendor="GenuineIntel", cpu_model="Xeon", cpu_family="6", cpu_model_number="207", cpu_stepping="2"
)
CATALOG, PLACEMENT = Catalog(ROOT), "two-cores"
NOON = datetime(2026, 11, 26, 12, tzinfo=UTC)


def contrast(ratio: float | None = 1.4, **changed: Any) -> Contrast:
    return Contrast(
        metric="app_cpu_us_per_request",
        of="falcon-async",
        to="falcon-sync",
        ratio=ratio,
        interval=(round(ratio * 0.98, 4), round(ratio * 1.02, 4)) if ratio else None,
        n=6,
    ).model_copy(update=changed)


def program(name: str, **changed: Any) -> SessionProgram:
    """A program with the version and the defaults of today."""
    defaults = defaults_now(CATALOG, name, PLACEMENT)
    version = CATALOG.implementation(name).version
    return SessionProgram(implementation=name, version=version, effective=defaults).model_copy(update=changed)


def session(
    number: int = 0, machine: SessionMachine = MILAN, ratio: float | None = 1.4, **changed: Any
) -> SessionRecord:
    at = NOON + timedelta(hours=number)
    return SessionRecord(
        id=name_of(at, machine),
        started_at=at,
        commit="0123456789",
        source="just session",
        machine=machine,
        scenario="recipes",
        scenario_version=1,
        topology="full",
        placement=PLACEMENT,
        plan="session",
        blocks=6,
        programs={"falcon-async": program("falcon-async"), "falcon-sync": program("falcon-sync")},
        contrasts=[contrast(ratio)],
    ).model_copy(update=changed)
