"""What was asked for. A record can be made again from its request."""

from typing import Any, Literal

from pydantic import Field, JsonValue

from tandem.record.conclusion import Coordinates, Position
from tandem.record.part import Part
from tandem.record.trial import Arrivals

StandIn = Literal["null", "proxy", "database"]
"""What replaces the application to bound it: a null application, HAProxy's own answer, pgbench on the database."""

Build = Literal["debug"]
"""A build of an implementation's folder other than the release build."""


class Variant(Part):
    """One thing that is measured: an implementation with its settings, under a scenario that may be changed."""

    label: str
    """Label, unique within a request; what tables call it."""
    base: str | None = None
    """Label in the request, where a study sets a variant up at several coordinates; None: its own."""
    coordinates: Coordinates = Field(default_factory=dict)
    """Where it stands in its study's design."""
    implementation: str
    settings: dict[str, str] = Field(default_factory=dict)
    """Settings that were chosen for this variant; they win over the request's."""
    scenario: str | None = None
    """Name of its scenario; None: the request's."""
    scenario_changes: dict[str, Any] = Field(default_factory=dict)
    """Fields of the scenario that are laid over it: connections, path, timeout_s."""
    topology: str | None = None
    placement: str | None = None
    db_rtt_ms: int | None = None
    """How far the database is away. Topology, placement and this one: None is the request's."""
    variables: dict[str, str] = Field(default_factory=dict)
    """Variables of compose/stack.yaml in place of the placement's: limits of shared services, CPU sets."""
    overlay: dict[str, Any] = Field(default_factory=dict)
    """Compose's overlay of a reader's own service, with its environment and its Compose file's services."""
    stand_in: StandIn | None = None
    build: Build | None = None
    """Another build of the implementation's folder; None: the release build."""
    tag: str | None = None
    """Tag of an image of the implementation that is there already, or of the commit that it is built from, in place of a
    build of the folder: `tandem/<implementation>:<tag>`."""

    @property
    def asked(self) -> str:
        """What the request calls it, at whatever coordinates."""
        return self.base or self.label

    @property
    def clients(self) -> str | None:
        """How its clients are not those of the scenario, in words; None: they are."""
        changes = self.scenario_changes
        told = [f"{changes['connections']:,} connections"] if "connections" in changes else []
        told += [f"given up after {changes['timeout_s']} s"] if "timeout_s" in changes else []
        told += [f"sent up to {1 + changes['retries']} times"] if changes.get("retries") else []
        if each := changes.get("requests_per_connection"):
            told += [
                "each on a connection of its own" if each == 1 else f"one in {each} closes its connection"
            ]
        return f"requests: {', '.join(told)}" if told else None

    @property
    def position(self) -> Position:
        """Where its estimates stand."""
        return Position(self.asked, self.coordinates)


type Services = Literal["forky"]
"""trixie's next release has the next version of each: https://www.debian.org/releases/forky/"""


class Conditions(Part):
    """What everything of a request runs under, unless a variant says otherwise."""

    topology: str
    placement: str
    db_rtt_ms: int | None = None
    """How far the database is away; None: no latency proxy in the path."""
    lab: str | None = None
    """The machines: a file of loadgen/labs, which says their CPU sets as well, in place of the placement. None: all on one."""
    generators: int = Field(default=1, ge=1)
    """Number of load generators that share each load."""
    arrivals: Arrivals | None = None
    """Arrivals of open loops, but for the seed. Null: evenly spaced, by the generator itself."""
    services: Services | None = None
    """Debian release that PostgreSQL, PgBouncer and HAProxy are of. Null: that of the base image."""


class Request(Part):
    """What the user asked for. The same request and seed give the same schedule."""

    study: str
    variants: list[Variant]
    scenario: str
    conditions: Conditions
    plan: str
    """Name of a plan, or the path of a TOML file."""
    seed: int
    salt: str = ""
    """Salt of the seeded data (contract/sql/seed.sql). A replay has its record's, so it asks for the same bodies. Empty: the
    data of contract/golden, as all had before each study had data of its own."""
    title: str | None = None
    """What its folder is called after; None: its variants."""
    settings: dict[str, str] = Field(default_factory=dict)
    """Settings that were chosen for all variants."""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """What only this study asks for, such as the axis of a sweep or the objective of a capacity search."""

    def same_but_for_the_seed(self, other: "Request") -> bool:
        """Whether the other request asks for the same measurement; the data are drawn by the seed."""
        return self.model_copy(update={"seed": other.seed, "salt": other.salt}) == other
