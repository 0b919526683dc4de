"""`tandem explain`."""

import re
from typing import Annotated

import typer

from tandem.catalog.catalog import Catalog
from tandem.cli import options as cli
from tandem.cli.measure import measure
from tandem.engine.run import blocks_s
from tandem.errors import UsageError
from tandem.hosts import HERE
from tandem.record.request import Request
from tandem.studies.explain.conditions import DISTANCE, taken_out
from tandem.studies.explain.design import ExplainOptions, offer, parse_factors
from tandem.studies.explain.preset import Preset, read_preset
from tandem.studies.explain.study import Explain
from tandem.wording import lasts


@cli.app.command()
def explain(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="NAME or NAME:SETTING=VALUE,…: the variant to start from. Beside settings: db-rtt=15ms, connections=200,"
            " proxy-limit=25, pooler-limit=10, pooler-mode=session, pooler-login=md5.",
        ),
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="The variant to explain.")],
    settings_from: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Preset of settings for both: a name in loadgen/explanations, such as published, or a TOML file of your own.",
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--setting",
            help="NAME=VALUE of the equal settings, with which the programs are compared. May be repeated.",
        ),
    ] = None,
    factor: Annotated[
        list[str] | None,
        typer.Option(
            "--factor", help="NAME=SETTING+SETTING: settings that change together. May be repeated."
        ),
    ] = None,
    blocks: Annotated[
        int | None,
        typer.Option(min=2, help="Number of fresh starts of each combination. Default: the plan's."),
    ] = None,
    budget: Annotated[str, typer.Option(help="Refuse a design that takes longer.")] = "20min",
    scenario: cli.ScenarioName = "recipes",
    plan: Annotated[str, typer.Option(help="Plan. Sets the warm-up and the closed window.")] = "explain",
    topology: cli.ChosenTopology = None,
    placement: cli.ChosenPlacement = None,
    generators: cli.Generators = 1,
    lab: cli.LabName = None,
    db_rtt: cli.DbRtt = None,
    seed: cli.Seed = None,
    resume: cli.Resume = False,
    quiet: cli.Quiet = False,
    as_json: cli.Json = False,
) -> None:
    """Explain why B is ahead of A: what each setting contributes, and what remains for the programs themselves."""
    catalog = Catalog(cli.ROOT)
    most_s = budget_s(budget)
    together = parse_factors(factor or [])
    preset = None if settings_from is None else read_preset(cli.ROOT, settings_from, scenario)
    sides = [taken_out(cli.read_variant(text)) for text in (a, b)]
    conditions = [own for _, own in sides]
    if db_rtt is None and any(DISTANCE in own for own in conditions):
        db_rtt = "0ms"  # so that distance alone differs, and not whether there is a latency proxy
    request = cli.make_request(
        Explain.name,
        catalog,
        [variant for variant, _ in sides],
        scenario=scenario,
        plan=plan,
        topology=topology or (preset.topology if preset else None),
        placement=placement,
        generators=generators,
        lab=lab,
        seed=seed,
        settings=setting,
        db_rtt=db_rtt,
        options=ExplainOptions(
            blocks=blocks or catalog.plan(plan).trials,
            cpus=cli.app_cpus(catalog.lab(lab[0])) if lab else HERE.cpus,
            factors=together,
            conditions=conditions,
        ).as_options(),
    )
    if preset is not None:
        request = as_published(request, preset, str(settings_from))
    study = Explain(catalog, request)
    told(study, blocks_s(study, cli.RESULTS), most_s)
    measure(Explain, request, resume, as_json)


def budget_s(text: str) -> float:
    """Seconds of `15min` or `600s`. Raises UsageError."""
    match = re.fullmatch(r"([1-9][0-9]{0,4})(min|s)", text)
    if not match:
        raise UsageError(f"--budget takes whole minutes or seconds, such as 15min, not '{text}'")
    return int(match[1]) * (60 if match[2] == "min" else 1)


def as_published(request: Request, preset: Preset, name: str) -> Request:
    """The request with the settings of the preset; what was given by hand wins. Raises UsageError."""
    options = ExplainOptions.read(request)
    by_hand = {setting for settings in options.factors.values() for setting in settings}
    own = {
        factor: settings
        for one in request.variants
        for factor, settings in preset.own_factors.get(one.implementation, {}).items()
    }
    taken = by_hand.union(*own.values())
    published = {
        factor: left
        for factor, settings in {**preset.factors, **own}.items()
        if (left := [one for one in settings if one not in (by_hand if factor in own else taken)])
    }
    known = {*published, *options.factors}
    groups = {group: [m for m in members if m in known] for group, members in preset.groups.items()}
    options = options.model_copy(
        update={
            "factors": {**published, **options.factors},
            "groups": {group: members for group, members in groups.items() if len(members) > 1},
            "words": [preset.words.get(one.implementation, {}) for one in request.variants],
            "source": preset.source,
        }
    )
    variants = [
        one.model_copy(
            update={
                "settings": {**preset.of(one.implementation, name), **one.settings},
                "scenario_changes": preset.changes,
                "variables": preset.variables,
            }
        )
        for one in request.variants
    ]
    settings = {**preset.equal, **request.settings}
    return request.model_copy(
        update={"variants": variants, "settings": settings, "options": options.as_options()}
    )


def told(study: Explain, lasts_s: float, most_s: float) -> None:
    """Says what will be made, before it is. Raises UsageError for a design beyond the budget, with the nearest one."""
    starts = sum(len(block) for block in study.outline())
    for leg in study.legs:
        changes = "; ".join(f"{factor.name}: {factor.change}" for factor in leg.factors)
        cli.err.print(f"settings of {leg.variant.label}: {changes or 'the equal settings'}", soft_wrap=True)
    design = f"{len(study.variants)} combinations, {study.asked.blocks} blocks, {starts} starts: about {lasts(lasts_s)}"
    cli.err.print(design)
    if lasts_s > most_s:
        nearest = offer(study.legs)
        fewer = f" Fewer combinations: {nearest}." if nearest else ""
        raise UsageError(
            f"{design}, and the budget is {lasts(most_s)}.{fewer} Or give --budget {lasts_s / 60 + 1:.0f}min."
        )
