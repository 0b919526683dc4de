from rows import BODY, DASHBOARD_BODY, DASHBOARD_ROWS, ROWS

from shared.models import dashboard_from_rows, recipe_from_rows, to_json


def test_rows_become_the_canonical_recipe() -> None:
    assert to_json(recipe_from_rows(**ROWS)) == BODY


def test_rows_become_the_canonical_dashboard() -> None:
    assert to_json(dashboard_from_rows(1, **DASHBOARD_ROWS)) == DASHBOARD_BODY
