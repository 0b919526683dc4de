"""A recorded reproduction: a part of it, and all of it as its experiment's file says it today. Pure but for reading that file."""

from collections.abc import Sequence

from tandem.catalog.catalog import Catalog
from tandem.engine.replay import of_rows
from tandem.record.request import Request
from tandem.studies.reproduce.experiment import plan_named
from tandem.studies.reproduce.study import Reproduce, ReproduceOptions, request_for


def part_of(catalog: Catalog, request: Request, rows: Sequence[str]) -> Request:
    """The request for these rows, and the others that are measured in the same starts: what a start has done before is part of a
    figure. Raises UsageError."""
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
    asked, under = ReproduceOptions.read(request), request.conditions
    where = under.lab, under.generators, asked.scale, asked.places
    whole = request_for(catalog, asked.experiment, plan_named(request.plan), asked.cpus, request.seed, *where)
    return part_of(catalog, whole, asked.only) if asked.only else whole
