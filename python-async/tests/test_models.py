from rows import BODY, DASHBOARD_BODY, DASHBOARD_ROWS, ROWS

from recipes.models import dashboard_from_rows, recipe_from_rows
from recipes.responses import JSONResponse


def test_rows_become_the_canonical_recipe() -> None:
    assert JSONResponse(recipe_from_rows(**ROWS)).body == BODY


def test_rows_become_the_canonical_dashboard() -> None:
    assert JSONResponse(dashboard_from_rows(1, **DASHBOARD_ROWS)).body == DASHBOARD_BODY
