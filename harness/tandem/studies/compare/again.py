"""A part of a recorded comparison. Pure."""

from collections.abc import Sequence

from tandem.catalog.catalog import Catalog
from tandem.engine.replay import part
from tandem.record.request import Request
from tandem.studies.compare.detecting import CompareOptions


def part_of(catalog: Catalog, request: Request, rows: Sequence[str]) -> Request:
    """The request for these rows and the baseline, with which every row is compared; and their groups, whose slowest sets the
    rates of all. Raises UsageError."""
    options = CompareOptions.read(request)
    asked = {request.variants[0].label, *rows}
    asked |= {label for group in options.groups if {*group} & {*rows} for label in group}
    kept = [[label for label in group if label in asked] for group in options.groups]
    options = options.model_copy(update={"groups": [group for group in kept if group]})
    return part(request, [*asked]).model_copy(update={"options": options.as_options()})
