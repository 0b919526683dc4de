"""What the tests have in the place of the database, and how they ask."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from rows import DASHBOARD_ROWS, ROWS

from shared.errors import DatabaseUnavailable, NotFound, Unauthorized
from shared.models import Dashboard, Recipe, dashboard_from_rows, recipe_from_rows


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    headers: Mapping[str, str]


class Ask(Protocol):
    def __call__(self, method: str, path: str, body: bytes = b"", session: str = "good") -> Answer: ...


class FakeRepository:
    """Knows the session `good` and the recipe 7."""

    def random_recipe(self, session_key: str) -> Recipe:
        return self.recipe_by_id(session_key, 7)

    def recipe_by_id(self, session_key: str, recipe_id: int) -> Recipe:
        if session_key != "good":
            raise Unauthorized
        if recipe_id == 503:
            raise DatabaseUnavailable from TimeoutError("late")
        if recipe_id == 500:
            raise RuntimeError("a bug")
        if recipe_id != 7:
            raise NotFound
        return recipe_from_rows(**ROWS)

    def write_note(self, session_key: str, recipe_id: int, text: str) -> int:
        self.recipe_by_id(session_key, recipe_id)
        assert text == "Crème"
        return 9

    def dashboard(self, session_key: str) -> Dashboard:
        self.recipe_by_id(session_key, 7)
        return dashboard_from_rows(1, **DASHBOARD_ROWS)


class AsyncRepository:
    """The same, to be awaited."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def method(*arguments: Any) -> Any:
            return getattr(FakeRepository(), name)(*arguments)

        return method
