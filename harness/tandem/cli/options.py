"""The application object, where things are, the options of more than one command, and how their texts are read."""

import os
import re
import secrets
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic_core import to_json
from rich.console import Console

from tandem.catalog.labs import Lab
from tandem.catalog.placement import cpus_in
from tandem.errors import UsageError, unknown
from tandem.record.request import Services, Variant
from tandem.record.trial import Arrivals

ROOT = Path(os.environ.get("TANDEM_ROOT", Path(__file__).resolve().parents[3]))
RESULTS = Path(os.environ.get("TANDEM_RESULTS", ROOT / "results"))


def program(what: str) -> typer.Typer:
    """An application whose commands are added to it. what: it does."""
    return typer.Typer(
        help=what,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


app = program("Measures synchronous and asynchronous web backends that do the same work.")
out = Console(width=None if sys.stdout.isatty() else 140)
err = Console(stderr=True, width=None if sys.stderr.isatty() else 140)
progress = Console(stderr=True, width=None if sys.stderr.isatty() else 140)
"""Console for progress; errors go to `err`."""


def print_json(data: Any) -> None:
    """Print models, dataclasses and what is made of them as JSON on stdout."""
    print(to_json(data, indent=1).decode())


def be_quiet(asked: bool) -> bool:
    """Silence progress where --quiet asks for it."""
    progress.quiet = asked
    return asked


_VARIANT = typer.Argument(
    metavar="VARIANT",
    help="NAME or NAME:SETTING=VALUE,…. NAME is an implementation that `tandem list` prints."
    " NAME@TAG uses the image tandem/NAME:TAG. If TAG is a commit's hash, the image is built from that commit.",
)
Variants = Annotated[list[str], _VARIANT]
VariantsOrImages = Annotated[list[str] | None, _VARIANT]
"""Variants, not needed where --image is given."""
OneVariant = Annotated[
    str | None,
    typer.Argument(
        metavar="VARIANT",
        help="NAME or NAME:SETTING=VALUE,…. NAME is an implementation that `tandem list` prints.",
    ),
]
ServiceFile = Annotated[
    Path | None,
    typer.Option(
        help="File of a service of your own, in place of VARIANT (`tandem service` prints one). --image wins over its images."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, and nothing else.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", callback=be_quiet, help="Print no progress, only the result.")
]
"""Option whose callback does all: a command that takes it has nothing to do."""
Untested = Annotated[
    bool, typer.Option("--untested", help="Measure even if this harness has not passed its self-test.")
]
ScenarioName = Annotated[str, typer.Option(help="Scenario: what the client requests.")]
ChosenTopology = Annotated[
    str | None,
    typer.Option(
        help="Parts between client and database: direct, pooled, proxied, full, tls or http2 (full, with TLS at HAProxy). Default:"
        " the scenario's own, or full."
    ),
]
ChosenPlacement = Annotated[str | None, typer.Option(help="CPUs of each role. Default: what fits this host.")]
LabName = Annotated[
    str | None,
    typer.Option(
        help="Machines and CPUs of the roles: a name in loadgen/labs or the path of a file. Default: this machine."
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(help="Seed of the data and of every random order. Default: a new one, which is recorded."),
]
CLIENT_FIELDS = {
    "connections": ("connections", ""),
    "timeout": ("timeout_s", "s"),
    "retries": ("retries", ""),
    "requests-per-connection": ("requests_per_connection", ""),
}
"""Name in `--clients` -> field of a scenario, and unit."""
BASE_SUITE = "trixie"
MAX_DB_RTT_MS = 250
"""Drivers give up connecting after two seconds, and a handshake takes several round trips."""


def parse_db_rtt(text: str | None) -> int | None:
    """Milliseconds of `--db-rtt`; None where it is not given. Raises UsageError for anything but whole ones."""
    if text is None:
        return None
    match = re.fullmatch(r"([0-9]{1,4})ms", text, re.ASCII)
    if not match or int(match[1]) > MAX_DB_RTT_MS:
        raise UsageError(
            f"--db-rtt takes whole milliseconds from 0ms to {MAX_DB_RTT_MS}ms, such as 15ms, not '{text}'"
        )
    return int(match[1])


def parse_arrivals(text: str) -> Arrivals | None:
    """The process of `--arrivals`; None: paced. Raises UsageError for another form."""
    if text == "paced":
        return None
    if text == "poisson":
        return Arrivals(process="poisson")
    match = re.fullmatch(r"bursts:([1-9][0-9]{0,5})/([1-9][0-9]{0,5})ms", text, re.ASCII)
    if not match:
        raise UsageError(
            f"--arrivals takes paced, poisson or bursts:SIZE/PAUSE, such as bursts:50/200ms, not '{text}'"
        )
    return Arrivals(process="bursts", size=int(match[1]), pause_ms=int(match[2]))


def parse_clients(text: str | None) -> dict[str, int]:
    """Fields of the scenario that `--clients` changes. Raises UsageError for another form."""
    changes = dict[str, int]()
    for pair in text.split(",") if text is not None else []:
        match = re.fullmatch(r"([a-z-]+)=([0-9]{1,5})(s?)", pair, re.ASCII)
        field, unit = CLIENT_FIELDS.get(match[1] if match else "", ("", ""))
        if match is None or not field or match[3] != unit or field in changes:
            raise UsageError(
                "--clients takes connections=N, timeout=Ns, retries=N and requests-per-connection=N, each once, such as"
                f" timeout=1s,retries=1, not '{pair}'"
            )
        changes[field] = int(match[2])
    return changes


def parse_services(text: str) -> Services | None:
    """The release of `--services`; None: that of the base image. Raises UsageError for another."""
    if text in (BASE_SUITE, "forky"):
        return "forky" if text == "forky" else None
    raise unknown("release of --services", text, (BASE_SUITE, "forky"))


UNITS_S = {"s": 1, "m": 60, "min": 60, "h": 3600}


def parse_budget_s(text: str, option: str = "--budget") -> int:
    """Seconds of `90m`. Raises UsageError for another form."""
    match = re.fullmatch(r"([1-9][0-9]{0,5})(s|m|min|h)", text)
    if match is None:
        raise UsageError(f"{option} takes a time such as 2h, 15min or 600s, not '{text}'")
    return int(match[1]) * UNITS_S[match[2]]


def parse_settings(pairs: list[str] | None, option: str = "--setting") -> dict[str, str]:
    """NAME=VALUE, repeated, as a dictionary. Raises UsageError for anything else."""
    settings = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"{option} takes NAME=VALUE, not '{pair}'")
        settings[name] = value
    return settings


def read_variant(text: str) -> Variant:
    """NAME or NAME:SETTING=VALUE,SETTING=VALUE, with @TAG behind NAME for an image that is there, or can be
    built from the commit of that hash. Raises UsageError for anything else."""
    program, colon, given = text.partition(":")
    name, at, tag = program.partition("@")
    if at and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", tag):
        raise UsageError(
            f"'{text}': after the @ comes a tag of the image tandem/{name}, such as {name}@before"
        )
    settings: dict[str, str] = {}
    for pair in given.split(",") if colon else []:
        setting, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(
                f"'{text}': after the colon come SETTING=VALUE pairs, such as {name}:DB_POOL_MAX=4,DB_PREPARE=0"
            )
        if setting in settings:
            raise UsageError(f"'{text}': {setting} is given twice")
        settings[setting] = value
    return Variant(label=text, implementation=name, settings=settings, tag=tag or None)


def read_variants(texts: list[str]) -> list[Variant]:
    """The variants in their order, one named twice once. Raises UsageError for another form."""
    return [read_variant(text) for text in dict.fromkeys(texts)]


def seed_or_new(seed: int | None) -> int:
    """The seed that was asked for, else a new one."""
    return secrets.randbelow(2**31) if seed is None else seed


def app_cpus(lab: Lab) -> int:
    """Count the application's CPUs where they have to be known before the hosts are reached. Raises UsageError where the lab's
    file does not tell them."""
    told = cpus_in(lab.host_of("app").cpus.get("app", ""))
    if told is None:
        raise UsageError(
            f"lab {lab.name}: the measurement depends on the application's CPUs, and its file does not state"
            f" them: give {lab.host_of('app').name} a CPU set for each of its roles"
        )
    return told


def generators_in(lab: Lab, asked: int = 1) -> int:
    """Number of load generators: at least one on each host for them. Raises UsageError for fewer."""
    hosts = lab.hosts_of("loadgen")
    if 1 < asked < len(hosts):
        names = " and ".join(host.name for host in hosts)
        raise UsageError(
            f"lab {lab.name}: loadgen is on {names}, and {asked} generators would leave a host idle:"
            f" use {len(hosts)} generators or more, or fewer hosts"
        )
    return max(asked, len(hosts))
