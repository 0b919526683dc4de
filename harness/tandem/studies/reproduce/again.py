"""A recorded reproduction: a part of it, and all of it as its experiment's file says it today. Pure but for reading that file."""

from collections.abc import Sequence

from tandem.catalog.catalog import Catalog
from tandem.engine.replay import of_rows
from tandem.record.request import Request
from tandem.studies.reproduce.experiment import pick, plan_named
from tandem.studies.reproduce.rows import scaled
from tandem.studies.reproduce.study import Reproduce, ReproduceOptions, request_for


def part_of(catalog: Catalog, request: Request, rows: Sequence[str]) -> Request:
    """These rows, and the others that are measured in the same starts: what a start has done before is part of a figure. Raises
    UsageError."""
    whole = Reproduce(catalog, request)
    started = {row.label: row.variant.label for row in whole.rows.rows.values()}
    asked = of_rows(rows, started)
    only = [label for label, variant in started.items() if variant in asked]
    options = whole.asked.model_copy(update={"only": only, "together": []})
    part = Reproduce(catalog, request.model_copy(update={"options": options.as_options()}))
    options = options.model_copy(update={"together": part.rows.joined_by_claims()})
    return request.model_copy(update={"variants": part.variants, "options": options.as_options()})


def of_today(catalog: Catalog, request: Request) -> Request:
    """The request as the experiment's file makes it now. Raises UsageError for what is no longer there."""
    asked, under, plan = ReproduceOptions.read(request), request.conditions, plan_named(request.plan)
    name, seed = asked.experiment, request.seed
    known = scaled(pick(catalog.root, name), plan, asked.scale)
    machines = under.lab, under.generators
    whole = request_for(catalog, name, known, plan, asked.cpus, seed, *machines, asked.scale, asked.places)
    return part_of(catalog, whole, asked.only) if asked.only else whole
