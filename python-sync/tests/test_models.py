from rows import BODY, DASHBOARD_BODY, DASHBOARD_ROWS, ROWS

from recipes.models import Dashboard, Recipe
from recipes.responses import JSONResponse


def test_rows_become_the_canonical_recipe() -> None:
    assert JSONResponse(Recipe.from_rows(**ROWS)).content == BODY


def test_rows_become_the_canonical_dashboard() -> None:
    assert JSONResponse(Dashboard.from_rows(1, **DASHBOARD_ROWS)).content == DASHBOARD_BODY
