"""The options that all measuring commands share, and the commands that are made from them and from a study's own options."""

import functools
import inspect
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import Field, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args

import typer
from pydantic import JsonValue

from tandem.catalog.catalog import OWN_SERVICE, Catalog
from tandem.catalog.labs import OF_A_LAB
from tandem.catalog.service import OwnService, read_service, service_of
from tandem.cli import options as cli
from tandem.cli.measure import Closing, make, print_result
from tandem.engine.study import Options, Study
from tandem.errors import UsageError
from tandem.hosts import HERE
from tandem.lab import own_service
from tandem.lab.laboratory import refuse_or_clean_up
from tandem.lab.live import View
from tandem.lab.prepare import DEFAULT_TOPOLOGY
from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Conclusions, Result
from tandem.record.window import Verdict

OWN = ("service", "image", "get", "post", "body", "header", "ids", "port", "env", "database")
"""The shared options of a service of the reader's own, of the commands that can measure one."""
CONDITIONS = (
    *("scenario", "topology", "placement", "setting", "db_rtt"),
    *("generators", "arrivals", "clients", "services"),
)
"""The shared options that a study without a choice of conditions does without."""


def option[T](value: T, told: str, *flags: str, least: int | None = None, most: int | None = None) -> T:
    """An option of measuring commands: its default, its help, its flags where they are not its name, and its limits."""
    return field(default=value, metadata={"option": typer.Option(*flags, help=told, min=least, max=most)})


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The values of the shared options. Each field is an option."""

    service: cli.ServiceFile = None
    image: list[str] | None = option(
        None,
        "Image of a service of your own, in place of VARIANT, such as shop:main. May be repeated: the first one's answer is"
        " the right one.",
    )
    get: str | None = option(None, "With --image: path that is requested, such as /cart/7.")
    post: str | None = option(None, "With --image: path of POST requests, in place of --get.")
    body: str | None = option(
        None, "With --post: body of each request. It is JSON unless --header says otherwise."
    )
    header: list[str] | None = option(
        None, "With --image: NAME=VALUE sent with each request, and kept in the record. May be repeated."
    )
    ids: str = option("", "With --image: what {id} in the path is drawn from, such as 1-50.")
    port: int = option(
        8080, "With --image: port that it listens on. PORT tells it the same.", least=1, most=65535
    )
    env: list[str] | None = option(None, "With --image: NAME=VALUE for its container. May be repeated.")
    database: Path | None = option(
        None,
        "With --image: SQL file of the data in the laboratory's PostgreSQL. DATABASE_URL has its address.",
    )
    scenario: cli.ScenarioName = "recipes"
    plan: str = option(
        "quick",
        "Durations and repetitions: a plan that `tandem list` prints, or a TOML file of your own.",
    )
    topology: cli.ChosenTopology = None
    placement: cli.ChosenPlacement = None
    setting: list[str] | None = option(
        None, "NAME=VALUE of contract/settings.toml, for all variants. May be repeated."
    )
    db_rtt: str | None = option(
        None,
        "Added round-trip time of the database, such as 15ms. Default: no latency proxy in the path.",
    )
    generators: int = option(
        1, "Number of load generators that share the connections and the rate of each load.", least=1
    )
    arrivals: str = option(
        "paced",
        "How the requests of an open loop arrive: paced (evenly), poisson (at random), or bursts:SIZE/PAUSE, such as"
        " bursts:50/200ms.",
    )
    clients: str | None = option(
        None,
        "How clients differ from those of the scenario: connections=N, timeout=Ns, retries=N, requests-per-connection=N,"
        " joined by commas. timeout: a request is given up after it; retries: and sent again.",
    )
    services: str = option(
        cli.BASE_SUITE,
        f"Debian release that PostgreSQL, PgBouncer and HAProxy are of: {cli.BASE_SUITE}, or forky, the next one.",
    )
    lab: cli.LabName = None
    seed: cli.Seed = None
    resume: bool = option(False, "Continue the newest unfinished study of the same request.", "--resume")
    quiet: cli.Quiet = False
    as_json: cli.Json = False

    def variants(self, named: Sequence[str] | None) -> list[Variant]:
        """The variants of these names, or of the images of a service of the reader's own. Raises UsageError where it is neither
        or both, TandemError where an image does not answer as the first one does."""
        service = self.own_service
        if service is None:
            if not named:
                raise UsageError(
                    "give a VARIANT, such as one that `tandem list` prints, or --image and --get"
                )
            return cli.read_variants([*named])
        if named or self.lab:
            raise UsageError(
                "a service of your own stands in place of a VARIANT, and on this machine: leave out the other"
            )
        if self.scenario != Asked.scenario:
            raise UsageError("--scenario is of implementations: a service of your own has --get or --post")
        note = View(cli.progress).note
        refuse_or_clean_up(cli.ROOT, cli.RESULTS, note)
        return own_service.variants(cli.ROOT, service, note)

    @cached_property
    def own_service(self) -> OwnService | None:
        """The reader's own, of a file or of options; None: none is asked for. Raises UsageError."""
        given = [one for one in OWN if getattr(self, one) != getattr(Asked, one)]
        if self.service is not None:
            if other := [one for one in given if one not in ("service", "image")]:
                raise UsageError(f"--{other[0]} stands in the service file: leave it out here")
            service = read_service(self.service, {"images": self.image} if self.image else {})
            if not service.images:
                raise UsageError(f"{self.service}: no `images`, and no --image here: give one of them")
            return service
        if not self.image:
            if given:
                raise UsageError(f"--{given[0]} is of a service of your own: give --image too")
            return None
        paths = [path for path in (self.get, self.post) if path is not None]
        if len(paths) != 1:
            raise UsageError(
                "--image needs --get or --post: the path that is requested, such as --get /cart/7"
            )
        if self.body is not None and self.post is None:
            raise UsageError("--body is of --post")
        post = {} if self.post is None else {"method": "POST", "body": self.body or ""}
        headers = cli.parse_settings(self.header, "--header")
        return service_of(
            images=self.image,
            port=self.port,
            environment=cli.parse_settings(self.env, "--env"),
            database=str(self.database.resolve()) if self.database else "",
            request=[{"path": paths[0], "ids": self.ids, "headers": headers, **post}],
        )

    def request(
        self,
        study: str,
        catalog: Catalog,
        variants: list[Variant],
        options: dict[str, JsonValue] | None = None,
    ) -> Request:
        """Make the request of a study. Raises UsageError for names that do not exist."""
        placement, generators = self.placement, self.generators
        if self.lab:
            generators = cli.generators_in(catalog.lab(self.lab), generators)
            if placement is not None:
                raise UsageError(
                    "--lab and --placement both say which CPUs each role has: leave --placement out"
                )
            placement = OF_A_LAB
        name = OWN_SERVICE if self.own_service else self.scenario
        scenario = catalog.scenario(name)
        catalog.plan(self.plan)
        for variant in variants:
            catalog.implementation(variant.implementation)
        if changes := cli.parse_clients(self.clients):
            changed = [{**one.scenario_changes, **changes} for one in variants]
            each = zip(variants, changed, strict=True)
            variants = [one.model_copy(update={"scenario_changes": own}) for one, own in each]
        seed = cli.seed_or_new(self.seed)
        return Request(
            study=study,
            variants=variants,
            scenario=name,
            conditions=Conditions(
                topology=self.topology or scenario.topology or DEFAULT_TOPOLOGY,
                placement=placement or catalog.default_placement(HERE.topology().places).name,
                db_rtt_ms=cli.parse_db_rtt(self.db_rtt),
                lab=self.lab or None,
                generators=generators,
                arrivals=cli.parse_arrivals(self.arrivals),
                services=cli.parse_services(self.services),
            ),
            plan=self.plan,
            seed=seed,
            salt=str(seed),
            settings=cli.parse_settings(self.setting),
            options=options or {},
        )

    def measure_variants[C: Conclusions](
        self, kind: type[Study[C]], variants: list[Variant], options: Options | None = None
    ) -> None:
        """Make a study of these variants and print its result. Exit status 1 unless its verdict is ok."""
        told = options.as_options() if options else None
        self.measure(kind, self.request(kind.name, Catalog(cli.ROOT), variants, told))

    def measure[C: Conclusions](
        self, kind: type[Study[C]], request: Request, closing: Closing | None = None
    ) -> Result[C]:
        """Make a study and print its result, then what closes it. Exit status 1 unless its verdict is ok."""
        result, journal = make(kind, request, self.resume, self.as_json)
        print_result(kind, result, journal, self.as_json, closing)
        if result.verdict is not Verdict.OK:
            raise typer.Exit(1)
        return result


class Default(NamedTuple):
    """Another default of a shared option in one command, and another help where that differs."""

    value: Any
    help: str | None = None


AT_RANDOM = Default("poisson")
"""`arrivals` of commands whose response times are quoted: users do not take turns. Those that compare costs are paced."""


def measuring(
    name: str | None = None, *, own: bool = False, without: Collection[str] = (), **defaults: Default
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a command to the application: the function's own arguments and options, and after them the shared ones.

    The function gets an `Asked` first. name: of the command, default: the function's. own: it can measure a service of the reader's own. without: shared options that the
    command does not have; their values are their defaults. A shared option that the function declares is its own.
    """

    def made(function: Callable[..., None]) -> Callable[..., None]:
        its = [*inspect.signature(function).parameters.values()][1:]
        left_out = {*without, *(one.name for one in its), *(() if own else OWN)}
        shared = [_parameter(one, defaults) for one in fields(Asked) if one.name not in left_out]
        fixed = {one: defaults[one].value for one in defaults.keys() - {option.name for option in shared}}
        parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in its + shared]

        @functools.wraps(function)
        def command(**given: Any) -> None:
            chosen = {one.name: given.pop(one.name, one.default) for one in shared}
            function(Asked(**fixed, **chosen), **given)

        vars(command)["__signature__"] = inspect.Signature(parameters)
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        cli.app.command(name)(command)
        return command

    return made


def _parameter(shared: Field[Any], defaults: dict[str, Default]) -> inspect.Parameter:
    """A shared option, as a parameter of a command."""
    name, type_, value, of = shared.name, shared.type, shared.default, shared.metadata.get("option")
    if of is None:  # the alias of an option that other commands have as well
        type_, of = get_args(type_)
    if name in defaults:
        value, told = defaults[name]
        of = copy(of)
        of.help = told or of.help
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=Annotated[type_, of]
    )
