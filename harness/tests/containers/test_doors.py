"""Who reaches whom: every port of every service, tried from the application's own network, on each topology.

An application that could ask the database past its pooler, tell HAProxy or Toxiproxy what to do, or look as the owner at
what is counted would make its own evidence.
"""

import json
import secrets
import subprocess
from collections.abc import Iterator

import pytest
from harness_places import ROOT

from tandem.catalog.catalog import Catalog
from tandem.lab.readiness import await_services
from tandem.lab.sites import ports_asked
from tandem.lab.stack import Stack
from tandem.probes.postgres import ADMIN_PASSWORD
from tandem.probes.toxiproxy import Toxiproxy

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]

SERVICES = ["db", "pgbouncer", "proxy", "loadgen", "faults"]
PORTS = {service: ports_asked(service, {"SLOTS": "1"}) for service in SERVICES}
PROGRAM = "tandem-doors-app"
KNOCK = """
import json, socket, sys
open_doors = []
for name, address, port in json.loads(sys.argv[1]):
    try:
        socket.create_connection((address, port), timeout=0.5).close()
        open_doors.append(f"{name}:{port}")
    except OSError:
        pass
print(json.dumps(sorted(set(open_doors))))
"""
LOGIN = """
import psycopg, sys
database, pooler, password = sys.argv[1:]
for user, word, address, port in [
    ("postgres", password, database, 5432),
    ("probe", password, database, 5432),
    ("console", password, pooler, 6432),
    ("postgres", password, pooler, 6432),
    ("app", "app", database, 5432),
]:
    name = "pgbouncer" if port == 6432 else "tandem"
    asked = f"host={address} port={port} dbname={name} user={user} password='{word}' connect_timeout=2"
    try:
        psycopg.connect(asked, autocommit=True).close()
        print(user)
    except psycopg.OperationalError:
        pass
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """All services, without an application."""
    folder = tmp_path_factory.mktemp("doors")
    variables = {"HTTP_PORT": "0", "STATS_PORT": "0", "HEALTH_INTERVAL": "1h", "RAW_FOLDER": str(folder)}
    found = Stack(ROOT, "tandem-doors", variables, folder / "compose.env")
    subprocess.run(["docker", "rm", "--force", PROGRAM], capture_output=True, check=False)
    found.down()
    try:
        found.docker.compose.build(SERVICES, quiet=True)
        found.start(SERVICES)
        await_services(found, SERVICES, print)
        yield found
    finally:
        found.down()


def inside(networks: list[str], script: str, *arguments: str) -> str:
    """What a script prints that runs where an application would: a container of these networks alone."""
    options = [
        "--name",
        PROGRAM,
        "--network",
        networks[0],
        "--label",
        "dev.tandem=stack",
        "--cap-drop",
        "ALL",
    ]
    program = ["--entrypoint", "python3", "tandem/harness", "-c", script, *arguments]

    def docker(*command: str) -> str:
        return subprocess.run(["docker", *command], capture_output=True, text=True, check=True).stdout

    docker("create", *options, *program)
    try:
        for further in networks[1:]:
            docker("network", "connect", further, PROGRAM)
        return docker("start", "--attach", PROGRAM)
    finally:
        docker("rm", "--force", PROGRAM)


def doors(stack: Stack, networks: list[str]) -> list[str]:
    """The services and ports that a program in these networks reaches, by any address that they have."""
    tried = [
        (name, address, port)
        for name, ports in PORTS.items()
        for address in stack.service(name).networks.values()
        for port in ports
    ]
    names = [f"{stack.project}_{network}" for network in networks]
    found: list[str] = json.loads(inside(names, KNOCK, json.dumps(tried)))
    return found


@pytest.mark.parametrize(
    ("topology", "reached"),
    [
        ("full", {"pgbouncer:6432"}),
        ("pooled", {"pgbouncer:6432"}),
        # Beside the database is its pooler, through which the way is longer.
        ("proxied", {"db:5432", "pgbouncer:6432"}),
        ("direct", {"db:5432", "pgbouncer:6432"}),
    ],
)
def test_an_application_reaches_what_its_topology_names(
    stack: Stack, real: Catalog, topology: str, reached: set[str]
) -> None:
    networks = ["app", "direct", real.topologies[topology].variables["DATABASE_NETWORK"]]
    assert set(doors(stack, networks)) == reached


def test_far_from_its_database_it_reaches_the_latency_proxy_alone(stack: Stack) -> None:
    Toxiproxy(stack.service("faults").address).delay("pgbouncer:6432", 1)
    assert doors(stack, ["app", "direct", "distance"]) == ["faults:6433"]


def test_the_doors_that_no_application_reaches_are_there(stack: Stack) -> None:
    """The control: by the networks of those who may."""
    assert {f"proxy:{port}" for port in PORTS["proxy"]} < set(doors(stack, ["edge", "database"]))
    assert "faults:8474" in doors(stack, ["control"])


def test_nobody_but_the_harness_is_owner(stack: Stack) -> None:
    """Beside the database, where its topology may be `direct`, with the password that every stack had once."""
    network = [f"{stack.project}_database"]
    asked = [stack.service(name).networks["database"] for name in ("db", "pgbouncer")]
    for guessed in ("", "tandem", secrets.token_hex(16)):
        assert inside(network, LOGIN, *asked, guessed).split() == ["app"]
    assert inside(network, LOGIN, *asked, ADMIN_PASSWORD).split() == ["postgres", "probe", "console", "app"]
    assert ADMIN_PASSWORD not in json.dumps(stack.variables), "variables are recorded"
