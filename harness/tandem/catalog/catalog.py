"""Reads what can be run (implementations, scenarios, plans, topologies, placements) and where (labs) into types."""

from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from tandem.catalog.labs import Lab
from tandem.catalog.placement import SIZES, EnvFile, cpus_in, evaluate, read_env_file
from tandem.catalog.scenario import Entry, Mix, Scenario
from tandem.catalog.toml import parsed, read_toml
from tandem.errors import UsageError, unknown

OWN_SERVICE = "harness/service"
"""The implementation, and the scenario, of images that are a reader's own."""
OF_THE_TOPOLOGY = ("PORT", "DATABASE_URL")
"""Settings that nobody chooses."""
CpuFormula = Annotated[str, Field(pattern=r"^(\d+|cpus|\d+\*cpus(\+\d+)?)$", coerce_numbers_to_str=True)]


class Setting(Entry):
    """An environment variable that every image honours (contract/settings.toml), or one alone (its bench.toml)."""

    default: str
    meaning: str
    values: list[str] | None = None
    minimum: int | None = None
    """Given for a whole number; none below it."""

    def refuse(self, value: str) -> str | None:
        """What a value has to be, if it is not that."""
        if self.values and value not in self.values:
            return f"one of {', '.join(self.values)}"
        if self.minimum is not None and not (
            value.isascii() and value.isdigit() and int(value) >= self.minimum
        ):
            return f"a whole number from {self.minimum}"
        return None


class Unsupported(BaseModel):
    """What an implementation cannot do: name -> reason."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    settings: dict[str, str] = {}
    scenarios: dict[str, str] = {}
    checks: dict[str, str] = {}
    """The contract's checks that it cannot pass."""
    slices: str | None = None
    """Why a comparison cannot measure it in slices: it keeps no connection, or it works in the background."""


class Bridge(BaseModel):
    """An implementation that is another one but for a part (contract/tests/README.md)."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    of: str
    checks: Annotated[list[str], Field(min_length=1)]
    """The files of contract/tests/contract_checks that CI asks it alone."""


class Implementation(Entry):
    """A folder with a bench.toml."""

    title: str
    version: Annotated[int, Field(ge=1)] = 1
    """Version, raised by hand when the program's work changes: sessions of two versions are kept apart."""
    language: str
    model: Literal["sync", "async", "green"]
    """green: blocking code on threads of the runtime, such as goroutines and virtual threads."""
    tier: Literal["core", "hardened"] = "core"
    """How much of the contract it promises (contract/README.md)."""
    stack: list[str]
    defaults: dict[str, CpuFormula] = Field(default_factory=dict)
    further_values: dict[str, list[str]] = Field(default_factory=dict)
    """Values of settings that it has beyond those of the contract."""
    settings: dict[str, Setting] = Field(default_factory=dict)
    """Settings of its own, which no other has."""
    pool_tells: bool = False
    """`GET /pool` says how long requests waited for its own pool of database connections, where the settings let it."""
    worker_pools: bool = False
    """Each worker has a part of DB_POOL_MAX for itself; so no more of them start than that is."""
    threads_shared: bool = False
    """THREADS is of the whole program, whose workers are threads of one process; else of each worker."""
    threadless: list[str] = Field(default_factory=list)
    """Scenarios whose requests take none of its THREADS, because their handlers wait for nothing."""
    statements: dict[str, list[str]] = Field(default_factory=dict)
    """Scenario -> the statements that each request sends, of a program that sends its own: their texts are in its folder's sql/."""
    prepares_transactions: bool = False
    """Whether its driver prepares BEGIN and COMMIT, of which PostgreSQL counts the first execution alone."""
    bridge: Bridge | None = None
    unsupported: Unsupported = Unsupported()

    @field_validator("settings", mode="before")
    @classmethod
    def _named(cls, found: dict[str, Any]) -> dict[str, Any]:
        return {name: {**one, "name": name} if isinstance(one, dict) else one for name, one in found.items()}

    @property
    def contract(self) -> bool:
        """Whether it does what contract/ says. A reader's own service is held to its baseline's answers."""
        return self.name != OWN_SERVICE


STEADY_LEAST = 6
"""Seconds: two levels of three."""


def _shows_a_level(seconds: int) -> int:
    if 0 < seconds < STEADY_LEAST:
        raise ValueError(
            f"steady_buckets must be 0 or at least {STEADY_LEAST}: fewer seconds show no change of level"
        )
    return seconds


SteadySeconds = Annotated[int, Field(ge=0), AfterValidator(_shows_a_level)]
EQUAL_SHARES = (0.1, 0.3, 0.6, 0.8)
"""Shares of what the slowest reaches: all that a plan may name, so that all records have the same metrics."""
EQUAL_LEAST_S = 3
"""Seconds of a window at an equal rate: about half of them are measured then."""


class Pairing(BaseModel):
    """How `compare` alternates (the table [compare] of a plan)."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    blocks: Annotated[int, Field(ge=1)]
    """Fresh starts of every variant."""
    looks: tuple[int, ...] = ()
    """Blocks after which it is looked, in place of `blocks`; it ends at the first look that decides."""
    rounds: Annotated[int, Field(ge=1)]
    """Windows in turn within a block, of every variant that is not measured in slices."""
    window_s: Annotated[int, Field(ge=2)]
    warm_up_s: Annotated[int, Field(ge=1)]
    steady_buckets: SteadySeconds = 0
    """Last seconds of the warm-up that must be steady (tandem.judge.steady); 0: they are not looked at."""
    warm_up_cap_s: Annotated[int, Field(ge=0)] = 0
    """Longest warm-up, where it is not steady yet; 0: it does not go on."""
    trim_start_s: float = 0.5
    trim_end_s: float = 0.25
    sliced_s: Annotated[int, Field(ge=0)] = 0
    """Seconds for which each variant of a block is measured in slices; 0: in windows in turn."""
    slice_s: Annotated[float, Field(ge=0.5)] = 1.0
    equal_shares: tuple[float, ...] = ()
    """Shares of what the block's slowest variant reaches: at each such rate every variant has an open window of its own."""
    equal_s: Annotated[int, Field(ge=0)] = 0
    """Seconds of each window at an equal rate."""
    duet_s: Annotated[int, Field(ge=0)] = 0
    """Seconds of the window at each block's end in which all are loaded at once, moderately; 0: there is none."""
    saturated_s: Annotated[int, Field(ge=0)] = 0
    """Seconds of another window behind the duet, near the limit of all together; 0: there is none."""

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if 0 < self.warm_up_cap_s < self.warm_up_s:
            raise ValueError(f"warm_up_cap_s must be 0 or at least warm_up_s, which is {self.warm_up_s}")
        if self.equal_shares != tuple(one for one in EQUAL_SHARES if one in self.equal_shares):
            raise ValueError(f"equal_shares are some of {', '.join(map(str, EQUAL_SHARES))}, in this order")
        if self.equal_shares and self.equal_s < EQUAL_LEAST_S:
            raise ValueError(f"equal_s must be at least {EQUAL_LEAST_S} where there are equal_shares")
        if self.equal_s and not self.equal_shares:
            raise ValueError("equal_s is of no window: there are no equal_shares")
        return self


class Plan(Entry):
    """How long and how often (loadgen/plans/*.toml)."""

    purpose: str
    trials: Annotated[int, Field(ge=1)]
    warm_up_s: Annotated[int, Field(ge=1)]
    warm_up_requests_per_worker: Annotated[int, Field(ge=0)]
    warm_up_cap_s: Annotated[int, Field(ge=1)]
    steady_buckets: SteadySeconds = 0
    """Last seconds of the warm-up that must be steady (tandem.judge.steady); 0: they are not looked at."""
    closed_s: Annotated[int, Field(ge=2)]
    open_s: Annotated[int, Field(ge=2)]
    open_load_fraction: Annotated[float, Field(gt=0, lt=1)]
    """The open loop's rate, as a share of the goodput of the closed window before it."""
    trim_start_s: Annotated[float, Field(ge=0)] = 2.0
    trim_end_s: Annotated[float, Field(ge=0)] = 1.0
    compare: Pairing | None = None
    ceilings: bool = False
    """Whether a session begins with a short look at what the parts around an application reach."""
    cpus_least: Annotated[int, Field(ge=1)] = 1
    """A host with fewer is told so, and its results are marked."""

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if self.warm_up_cap_s < self.warm_up_s:
            raise ValueError(f"warm_up_cap_s is below warm_up_s, which is {self.warm_up_s}")
        if min(self.closed_s, self.open_s) <= self.trim_start_s + self.trim_end_s:
            raise ValueError(
                "trim_start_s and trim_end_s leave nothing of the shorter of closed_s and open_s"
            )
        return self

    def unfit(self, places: int) -> str | None:
        """Why a host with so many places for roles (Topology.places) is not fit for this plan; None if it is."""
        if places == 1:
            return "this host has one CPU, which all roles share: no result can be compared. Measure on two or more"
        if places >= self.cpus_least:
            return None
        return (
            f"the plan {self.name} is meant for at least {self.cpus_least} physical cores, but this host has {places}:"
            " roles share CPUs, so absolute figures depend on the machine as much as on the application"
        )


def _load[T: Entry](model: type[T], file: Path, name: str) -> T:
    data = read_toml(file)
    if "name" in data:
        raise UsageError(f"{file}: name: comes from the folder or the file and cannot be given")
    return parsed(model, {"name": name, **data}, file)


class Catalog:
    """Everything that can be run, found by looking, with no central list."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def implementations(self) -> dict[str, Implementation]:
        files = sorted(self.root.glob("*/bench.toml"))
        return {file.parent.name: _load(Implementation, file, file.parent.name) for file in files}

    @cached_property
    def scenarios(self) -> dict[str, Scenario]:
        """Mixes behind the scenarios that they are of."""
        files = sorted(self.root.glob("loadgen/scenarios/*.toml"))
        mixed = [file for file in files if "mix" in read_toml(file)]
        found = {file.stem: _load(Scenario, file, file.stem) for file in files if file not in mixed}
        for file in mixed:
            mix = _load(Mix, file, file.stem)
            try:
                found[file.stem] = mix.scenario(found)
            except KeyError as error:
                raise UsageError(f"{file}: mix: {unknown('scenario', error.args[0], found)}") from None
            except ValueError as error:
                raise UsageError(f"{file}: mix: {error}") from None
        return found

    @cached_property
    def plans(self) -> dict[str, Plan]:
        return {f.stem: _load(Plan, f, f.stem) for f in sorted(self.root.glob("loadgen/plans/*.toml"))}

    @cached_property
    def labs(self) -> dict[str, Lab]:
        return {f.stem: _load(Lab, f, f.stem) for f in sorted(self.root.glob("loadgen/labs/*.toml"))}

    @cached_property
    def topologies(self) -> dict[str, EnvFile]:
        return {f.stem: read_env_file(f) for f in sorted(self.root.glob("compose/topologies/*.env"))}

    @cached_property
    def placements(self) -> dict[str, EnvFile]:
        return {f.stem: read_env_file(f) for f in sorted(self.root.glob("compose/placements/*.env"))}

    @cached_property
    def settings(self) -> dict[str, Setting]:
        file = self.root / "contract/settings.toml"
        settings: dict[str, Setting] = {}
        for name, table in read_toml(file).items():
            if isinstance(table, dict) and "name" in table:
                raise UsageError(f"{file}: {name} -> name: comes from the table and cannot be given")
            data = {**table, "name": name} if isinstance(table, dict) else table
            settings[name] = parsed(Setting, data, file, name)
        return settings

    def implementation(self, name: str) -> Implementation:
        """The implementation of that name; one in a deeper folder (a test's) is found by its path and in no list.

        Raises UsageError.
        """
        file = self.root / name / "bench.toml"
        if name in self.implementations:
            found = self.implementations[name]
        elif "/" in name and file.is_file():
            found = _load(Implementation, file, name)
        else:
            raise unknown("implementation", name, self.implementations)
        for table, names in (
            ("defaults", found.defaults),
            ("further_values", found.further_values),
            ("unsupported -> settings", found.unsupported.settings),
        ):
            if wrong := next((name for name in names if name not in self.settings), None):
                raise UsageError(f"{file}: {table} -> {wrong}: {unknown('setting', wrong, self.settings)}")
        if both := found.settings.keys() & self.settings.keys():
            raise UsageError(f"{file}: settings -> {min(both)}: all implementations have it already")
        return found

    def scenario(self, name: str) -> Scenario:
        """The scenario of that name; that of a folder that is in no list is found by its path. Raises UsageError."""
        file = self.root / name / "scenario.toml"
        if "/" in name and file.is_file():
            return _load(Scenario, file, name)
        return self.pick("scenario", name, self.scenarios)

    def plan(self, name: str) -> Plan:
        """The plan of that name, or the one in a TOML file that the name is the path of. Raises UsageError."""
        if name.endswith(".toml"):
            return _load(Plan, Path(name), Path(name).stem)
        return self.pick("plan", name, self.plans)

    def lab(self, name: str) -> Lab:
        """The lab of that name, or the one in a TOML file that the name is the path of, with numbers for addresses.

        Raises UsageError, before anything of it is reached.
        """
        if name.endswith(".toml"):
            return _load(Lab, Path(name), Path(name).stem).resolved()
        return self.pick("lab", name, self.labs).resolved()

    def pick[T](self, kind: str, name: str, entries: dict[str, T]) -> T:
        """The entry of that name, or a UsageError that offers the nearest."""
        if name not in entries:
            raise unknown(kind, name, entries)
        return entries[name]

    def default_placement(self, places: int) -> EnvFile:
        """The largest placement of this repository that fits a host with so many places (Topology.places)."""
        return self.placements[next((name for name, least in SIZES.items() if places >= least), "shared")]

    def app_cpus(self, placement: str) -> int | None:
        """How many CPUs a placement gives the application; None: all. Raises UsageError for one that does not exist."""
        known = self.pick("placement", placement, self.placements)
        return cpus_in(known.variables.get("APP_CPUSET", ""))

    def effective_settings(
        self, implementation: Implementation, app_cpus: int, chosen: dict[str, str]
    ) -> dict[str, str]:
        """What the application's settings will be: the user's choice, else the implementation's best, else the contract's. A
        setting of this implementation alone is left out at its default: records from before it existed lack it. A reader's own service
        has those that the user chose.

        Raises UsageError for an unknown setting, a value outside the setting's list, or a setting that the
        implementation declares unsupported.
        """
        own, best = implementation.settings, implementation.defaults
        known = {**self.settings, **own}
        chosen = {name: to for name, to in chosen.items() if name not in own or own[name].default != to}
        settings = {
            name: str(evaluate(best[name], app_cpus)) if name in best else setting.default
            for name, setting in self.settings.items()
            if name not in OF_THE_TOPOLOGY and implementation.contract
        }
        for name, value in chosen.items():
            setting = self.pick("setting", name, known)
            if name in OF_THE_TOPOLOGY:
                raise UsageError(f"{name} is set by the topology and cannot be chosen.")
            if name in implementation.unsupported.settings:
                raise UsageError(
                    f"{implementation.name} cannot vary {name}: {implementation.unsupported.settings[name]}."
                )
            if value not in implementation.further_values.get(name, []) and (wanted := setting.refuse(value)):
                raise UsageError(f"{name} must be {wanted}, not '{value}'.")
            settings[name] = value
        return settings
