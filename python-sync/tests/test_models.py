from rows import BODY, ROWS

from recipes.models import Recipe
from recipes.responses import JSONResponse


def test_rows_become_the_canonical_body() -> None:
    assert JSONResponse(Recipe.from_rows(**ROWS)).content == BODY
