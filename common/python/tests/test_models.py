from rows import BODY, DASHBOARD_BODY, DASHBOARD_ROWS, ROWS

from shared.json import encode
from shared.models import dashboard_from_rows, recipe_from_rows


def test_rows_become_the_canonical_recipe() -> None:
    assert encode(recipe_from_rows(**ROWS)) == BODY


def test_rows_become_the_canonical_dashboard() -> None:
    assert encode(dashboard_from_rows(1, **DASHBOARD_ROWS)) == DASHBOARD_BODY
