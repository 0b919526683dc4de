"""`tandem explain`, with the presets of loadgen/explanations/*.toml: how the programs of published comparisons were set up."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ConfigDict

from tandem.catalog.catalog import Catalog
from tandem.catalog.toml import parsed, read_toml
from tandem.cli import options as cli
from tandem.cli.shared import Asked, Default, measuring
from tandem.engine.run import blocks_s
from tandem.errors import UsageError, unknown
from tandem.hosts import HERE
from tandem.record.request import Request
from tandem.studies.explain.design import DISTANCE, ExplainOptions, offer, parse_factors, taken_out
from tandem.studies.explain.study import Explain
from tandem.wording import lasts


class Preset(BaseModel):
    """One scenario of a file: settings of implementations, and what is equal in the middle of the bridge."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    source: str
    """Address of the programs."""
    experiment: str
    """The one of loadgen/experiments whose published rows have these settings."""
    topology: str
    settings: dict[str, dict[str, str]]
    """Implementation -> its settings as they were published."""
    equal: dict[str, str] = {}
    variables: dict[str, str] = {}
    """Variables of compose/stack.yaml."""
    changes: dict[str, Any] = {}
    """Fields of the scenario that are laid over it."""
    factors: dict[str, list[str]] = {}
    requires: dict[str, str] = {}
    """Factor -> the one that it needs, as in the options."""
    groups: dict[str, list[str]] = {}
    words: dict[str, dict[str, str]] = {}


def read_preset(root: Path, name: str, scenario: str) -> Preset:
    """The part of loadgen/explanations/NAME.toml, or of a TOML file of that path, that is about a scenario.

    Raises UsageError for a file, a scenario or a key that does not exist.
    """
    known = {file.stem: file for file in sorted((root / "loadgen/explanations").glob("*.toml"))}
    if not name.endswith(".toml") and name not in known:
        raise unknown("preset", name, known)
    file = Path(name) if name.endswith(".toml") else known[name]
    data = read_toml(file)
    if scenario not in data:
        raise UsageError(f"{file}: it says nothing about the scenario {scenario}; it has {', '.join(data)}")
    found = parsed(Preset, data[scenario], file, scenario)
    for factor in (*found.requires, *found.requires.values()):
        if factor not in found.factors:
            raise UsageError(f"{file}: {scenario} -> requires: {unknown('factor', factor, found.factors)}")
    return found


@measuring(
    without=("arrivals", "clients"),
    plan=Default("explain", "Plan. Sets the warm-up and the closed window."),
    setting=Default(
        None, "NAME=VALUE of the equal settings, with which the programs are compared. May be repeated."
    ),
)
def explain(
    asked: Asked,
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
) -> None:
    """Explain why B is ahead of A: what each setting contributes, and what remains for the programs themselves."""
    catalog = Catalog(cli.ROOT)
    most_s = cli.parse_budget_s(budget)
    together = parse_factors(factor or [])
    preset = None if settings_from is None else read_preset(cli.ROOT, settings_from, asked.scenario)
    sides = [taken_out(cli.read_variant(text)) for text in (a, b)]
    conditions = [own for _, own in sides]
    if asked.db_rtt is None and any(DISTANCE in own for own in conditions):
        # so that distance alone differs, and not whether there is a latency proxy
        asked = replace(asked, db_rtt="0ms")
    if preset and not asked.topology:
        asked = replace(asked, topology=preset.topology)
    options = ExplainOptions(
        blocks=blocks or catalog.plan(asked.plan).trials,
        cpus=cli.app_cpus(catalog.lab(asked.lab)) if asked.lab else HERE.cpus,
        factors=together,
        conditions=conditions,
    ).as_options()
    request = asked.request(Explain.name, catalog, [variant for variant, _ in sides], options)
    if preset is not None:
        request = as_published(request, preset, str(settings_from))
    study = Explain(catalog, request)
    told(study, blocks_s(study, cli.RESULTS), most_s)
    asked.measure(Explain, request)


def as_published(request: Request, preset: Preset, name: str) -> Request:
    """The request with the settings of the preset; what was given by hand wins. Raises UsageError where nothing was published."""
    for variant in request.variants:
        if variant.implementation not in preset.settings:
            there = f"--from {name} has {', '.join(preset.settings)}"
            raise UsageError(f"nothing was published about {variant.implementation} here; {there}")
    options = ExplainOptions.read(request)
    by_hand = {setting for settings in options.factors.values() for setting in settings}
    published = {
        factor: left
        for factor, settings in preset.factors.items()
        if (left := [one for one in settings if one not in by_hand])
    }
    known = {*published, *options.factors}
    groups = {group: [m for m in members if m in known] for group, members in preset.groups.items()}
    options = options.model_copy(
        update={
            "factors": {**published, **options.factors},
            "requires": {one: needed for one, needed in preset.requires.items() if {one, needed} <= known},
            "groups": {group: members for group, members in groups.items() if len(members) > 1},
            "words": [preset.words.get(one.implementation, {}) for one in request.variants],
            "source": preset.source,
        }
    )
    variants = [
        one.model_copy(
            update={
                "settings": {**preset.settings[one.implementation], **one.settings},
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
