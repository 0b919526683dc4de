"""Which cells explain a gap: two legs of settings, bridged by equal ones. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from tandem.analysis.shapley import Orders
from tandem.catalog.catalog import Catalog
from tandem.catalog.scenario import Scenario
from tandem.engine.grid import LONGEST_DISTANCE_MS, placed
from tandem.engine.study import Options
from tandem.errors import UsageError, unknown
from tandem.record.conclusion import Coordinates
from tandem.record.request import Request, Variant
from tandem.studies.explain.conclusions import Side, changes

DISTANCE, CONNECTIONS = "db-rtt", "connections"
LIMITS = {"proxy-limit": "APP_MAXCONN", "pooler-limit": "PGBOUNCER_POOL_SIZE"}
"""Condition -> variable of compose/stack.yaml: how many requests HAProxy lets in, how many connections PgBouncer opens."""
POOLER = {
    "pooler-mode": ("PGBOUNCER_POOL_MODE", ("transaction", "session")),
    "pooler-login": ("PGBOUNCER_AUTH_TYPE", ("scram-sha-256", "md5", "trust")),
}
"""Condition -> variable, and what it may be, the stack's own first. https://www.pgbouncer.org/config.html"""
CONDITIONS = (DISTANCE, CONNECTIONS, *LIMITS, *POOLER)
VARIABLES = {**LIMITS, **{name: variable for name, (variable, _) in POOLER.items()}}
"""Condition -> variable, of all that have one."""
LIMIT_MOST = 10_000
STANDS_IN = {"proxy": ("LOAD_ADDRESS", "proxy:"), "pooler": ("DATABASE_ADDRESS", "pgbouncer:")}
"""How the names of conditions begin that are of a service -> the variable of a topology in which it stands, and how."""


def checked(name: str, text: str) -> str:
    """A value as the rest of the module has it: `15ms`, `200`, `session`. Raises UsageError."""
    if name in POOLER:
        if text not in POOLER[name][1]:
            raise UsageError(f"{name} takes {' or '.join(POOLER[name][1])}, not '{text}'")
        return text
    far = name == DISTANCE
    least, most, unit, example = (0, LONGEST_DISTANCE_MS, "ms", "15") if far else (1, LIMIT_MOST, "", "200")
    match = re.fullmatch(f"([0-9]{{1,5}}){unit}", text, re.ASCII)
    if not match or not least <= int(match[1]) <= most:
        allowed = f"from {least}{unit} to {most}{unit}, such as {example}{unit}"
        raise UsageError(f"{name} takes whole numbers {allowed}, not '{text}'")
    return f"{int(match[1])}{unit}"


def taken_out(variant: Variant) -> tuple[Variant, dict[str, str]]:
    """A variant as it was typed, without its conditions, and these. Raises UsageError."""
    own = {name: checked(name, text) for name, text in variant.settings.items() if name in CONDITIONS}
    left = {name: text for name, text in variant.settings.items() if name not in CONDITIONS}
    return variant.model_copy(update={"settings": left}), own


def equal(name: str, request: Request, variant: Variant, scenario: Scenario) -> str:
    """The value in the middle of the bridge, as both sides have it; empty: no such limit, no such distance."""
    if name == DISTANCE:
        ms = request.conditions.db_rtt_ms
        return "" if ms is None else f"{ms}ms"
    if name == CONNECTIONS:
        return str(variant.scenario_changes.get(CONNECTIONS, scenario.connections))
    return variant.variables.get(VARIABLES[name], POOLER[name][1][0] if name in POOLER else "")


def applied(variant: Variant, own: Mapping[str, str]) -> Variant:
    """The variant under these conditions."""
    around = {variable: own[name] for name, variable in VARIABLES.items() if name in own}
    changes: dict[str, Any] = {"variables": {**variant.variables, **around}}
    if DISTANCE in own:
        changes["db_rtt_ms"] = int(own[DISTANCE].removesuffix("ms"))
    if CONNECTIONS in own:
        changes["scenario_changes"] = {**variant.scenario_changes, CONNECTIONS: int(own[CONNECTIONS])}
    return variant.model_copy(update=changes)


def check_path(names: Iterable[str], topology: str, variables: Mapping[str, str]) -> None:
    """Raises UsageError for a condition of a service that no request passes.

    names: of conditions. topology: its name. variables: what compose/topologies says of it.
    """
    for name in names:
        variable, address = STANDS_IN.get(name.partition("-")[0], ("", ""))
        if not variables.get(variable, "").startswith(address):
            raise UsageError(
                f"{name} has no effect in the topology '{topology}': no request passes through it"
            )


SIDES: tuple[Side, Side] = ("A", "B")
MOST = 4
"""Factors and groups of one leg: a full factorial of more takes too many starts."""
KINDS = (
    ("handlers", ("WORKERS", "THREADS", "OFFLOAD")),
    ("connections", ("DB_POOL_MAX", "DB_PERSISTENT")),
    ("statements", ("DB_PREPARE", "DB_RESET", "DB_TIME_ZONE")),
    ("log", ("LOG_LEVEL", "ACCESS_LOG")),
    ("conditions", CONDITIONS),
)
"""Settings that are about the same thing: what a design with too many factors is offered to change together."""


class ExplainOptions(Options):
    needs = "explain needs its blocks and the host's CPUs"
    blocks: int
    cpus: int
    """CPUs of the host: defaults follow from them."""
    factors: dict[str, list[str]] = Field(default_factory=dict)
    """Factor -> settings that are changed together; a setting that is in none is a factor of its own."""
    requires: dict[str, str] = Field(default_factory=dict)
    """Factor -> the one without whose equal value its own equal value is not tried."""
    groups: dict[str, list[str]] = Field(default_factory=dict)
    """Group -> factors that are told as one as well."""
    words: list[dict[str, str]] = Field(default_factory=lambda: [dict[str, str](), dict[str, str]()])
    """One mapping for A and one for B: factor or group -> what it is called in a sentence."""
    source: str | None = None
    """Address at which the settings were published."""
    conditions: list[dict[str, str]] = Field(default_factory=lambda: [dict[str, str](), dict[str, str]()])
    """One mapping for A and one for B: condition -> its own value."""


@dataclass(frozen=True)
class Factor:
    """Settings and conditions that are changed together. settings: name -> as it is, equal."""

    name: str
    settings: dict[str, tuple[str, str]]

    @property
    def change(self) -> str:
        """`DB_RESET 1 to 0`, from as it is to equal."""
        return changes(self.settings)


@dataclass(frozen=True)
class Leg:
    """One side: from as it is to equal settings (A), or from equal settings to as it is (B). A state of its orders has
    a bit for each factor that has been changed."""

    side: Side
    variant: Variant
    factors: list[Factor]
    groups: dict[str, int]
    """Name -> bits of its factors; only what has two or more here."""
    requires: dict[str, str] = field(default_factory=dict)
    """Factor -> the one without whose equal value its own equal value is not tried."""

    def orders(self, missing: Collection[int] = ()) -> Orders:
        """Orders through states that are tried. missing: further states that cannot be."""
        untried, names = {*missing}, {factor.name for factor in self.factors}
        for state in range(1 << len(self.factors)):
            own = {factor.name for factor in self.owned(state)}
            if any(one in names - own and needed in own for one, needed in self.requires.items()):
                untried.add(state)
        return Orders(len(self.factors), list(self.groups.values()), untried)

    @property
    def own_first(self) -> bool:
        """Whether the leg begins with the settings as they are."""
        return self.side == SIDES[0]

    def owned(self, state: int) -> list[Factor]:
        """The factors that are as it is in a state."""
        return [f for bit, f in enumerate(self.factors) if bool(state >> bit & 1) != self.own_first]

    def label(self, state: int) -> str:
        """What the cell is called. With equal settings both sides of one implementation are the same cell."""
        own, name = [factor.name for factor in self.owned(state)], self.variant.implementation
        if not own:
            return f"{name} equal"
        told = "as it is" if len(own) == len(self.factors) else f"own {', '.join(own)}"
        return f"{self.side} {name} {told}"

    def cell(self, state: int) -> Variant:
        """The side's variant in a state."""
        owned = self.owned(state)
        mine = {name: pair[0] for factor in owned for name, pair in factor.settings.items()}
        same = {name for factor in self.factors for name in factor.settings} - {*mine}
        stands: Coordinates = {f.name: "own" if f in owned else "equal" for f in self.factors}
        own = placed(self.variant, self.label(state), {"end": self.side, **stands} if owned else stands)
        left = {name: text for name, text in own.settings.items() if name not in same}
        return applied(own.model_copy(update={"settings": left}), mine)

    @property
    def corners(self) -> tuple[int, int]:
        """States at the beginning and the end."""
        return 0, (1 << len(self.factors)) - 1


def effective(
    catalog: Catalog, request: Request, options: ExplainOptions, variant: Variant
) -> dict[str, str]:
    """The settings that a variant will have. Raises UsageError for one that it cannot honour."""
    cpus = catalog.app_cpus(request.conditions.placement) or options.cpus
    chosen = {**request.settings, **variant.settings}
    return catalog.effective_settings(catalog.implementation(variant.implementation), cpus, chosen)


def leg_of(catalog: Catalog, request: Request, options: ExplainOptions, side: int) -> Leg:
    """The leg of a side. Raises UsageError for what the side cannot honour, with its reason, and for too many factors."""
    variant, scenario = request.variants[side], catalog.scenario(request.scenario)
    conditions = options.conditions[side]
    own = effective(catalog, request, options, variant) | conditions
    same = effective(catalog, request, options, variant.model_copy(update={"settings": {}}))
    same |= {name: equal(name, request, variant, scenario) for name in conditions}
    different = {name: (own[name], same[name]) for name in own if own[name] != same[name]}
    factors = list(_factors(catalog, options, different))
    names = [factor.name for factor in factors]
    groups = {
        name: sum(1 << names.index(member) for member in members if member in names)
        for name, members in options.groups.items()
    }
    groups = {name: bits for name, bits in groups.items() if bits.bit_count() > 1}
    units = len(factors) - sum(bits.bit_count() - 1 for bits in groups.values())
    leg = Leg(SIDES[side], variant, factors, groups, options.requires)
    if units > MOST:
        raise UsageError(
            f"{variant.label} differs from the equal settings in {units} factors, and at most {MOST} are"
            f" tried in every combination. Change some together: {offer([leg]) or '--factor NAME=SETTING+SETTING'}"
        )
    return leg


def _factors(
    catalog: Catalog, options: ExplainOptions, different: dict[str, tuple[str, str]]
) -> Iterator[Factor]:
    taken: set[str] = set()
    for name, settings in options.factors.items():
        for setting in settings:
            catalog.pick("setting", setting, {**catalog.settings, **dict.fromkeys(CONDITIONS)})
            if setting in taken:
                raise UsageError(f"{setting} is in two factors")
            taken.add(setting)
        if own := {setting: different[setting] for setting in settings if setting in different}:
            yield Factor(name, own)
    yield from (Factor(name, {name: values}) for name, values in different.items() if name not in taken)


def parse_factors(texts: Sequence[str]) -> dict[str, list[str]]:
    """Factors from texts, each `NAME=SETTING+SETTING`. Raises UsageError."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, given = (part.strip() for part in text.partition("="))
        settings = given.split("+")
        if not equals or not name or not all(settings):
            raise UsageError(f"--factor takes NAME=SETTING+SETTING, not '{text}'")
        if name in found:
            raise UsageError(f"--factor {name} is given twice")
        found[name] = settings
    return found


def check_groups(options: ExplainOptions, known: set[str]) -> None:
    """Raises UsageError for a group with a factor that there cannot be. known: factors and settings."""
    members = [member for group in options.groups.values() for member in group]
    for member in members:
        if member not in known:
            raise unknown("factor", member, known)
        if members.count(member) > 1:
            raise UsageError(f"the factor {member} is in two groups")


def offer(both: Sequence[Leg]) -> str:
    """The nearest design with fewer cells, as options: the factors of a group, or those about the same thing, are
    changed together. Empty where there is none."""
    together: dict[str, list[str]] = {}
    taken: set[str] = set()
    for leg in both:
        members = [
            (name, [factor for bit, factor in enumerate(leg.factors) if bits >> bit & 1])
            for name, bits in leg.groups.items()
        ]
        members += [(kind, [f for f in leg.factors if {*names} & {*f.settings}]) for kind, names in KINDS]
        for name, factors in members:
            own = together.setdefault(name, [])
            free = [factor for factor in factors if not {*factor.settings} & (taken - {*own})]
            if len(free) > 1:
                own += [key for factor in free for key in factor.settings if key not in own]
                taken |= {*own}
    return " ".join(f"--factor '{name}={'+'.join(own)}'" for name, own in together.items() if own)
