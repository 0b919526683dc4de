"""The contract's statements, one after the other, on one connection for a request."""

from recipes.database import Connection, Pool, connected
from shared.errors import NotFound, Unauthorized
from shared.models import Dashboard, Recipe, Row, dashboard_from_rows, recipe_from_rows
from shared.queries import DASHBOARD, PARTS, QUERIES, SET_TIME_ZONE


class Repository:
    def __init__(self, pool: Pool, *, set_time_zone: bool) -> None:
        self._pool = pool
        self._set_time_zone = set_time_zone

    def random_recipe(self, session_key: str) -> Recipe:
        """Raises Unauthorized without a live session, NotFound if its user sees no recipe."""
        return self._recipe(session_key, "recipe_random")

    def recipe_by_id(self, session_key: str, recipe_id: int) -> Recipe:
        """Raises Unauthorized without a live session, NotFound if its user sees no such recipe."""
        return self._recipe(session_key, "recipe_by_id", recipe_id)

    def write_note(self, session_key: str, recipe_id: int, text: str) -> int:
        """The new note's id, once it is stored with its event; raises as `recipe_by_id`."""
        with connected(self._pool) as connection:
            user_id = self._user(connection, session_key)
            with connection.transaction():
                notes = fetch(connection, "note_insert", user_id, recipe_id, text)
                if not notes:
                    raise NotFound
                connection.execute(QUERIES["event_insert"], (user_id, recipe_id))
        note_id: int = notes[0][0]
        return note_id

    def dashboard(self, session_key: str) -> Dashboard:
        """Raises Unauthorized without a live session."""
        with connected(self._pool) as connection:
            user_id = self._user(connection, session_key)
            reads = {name: fetch(connection, f"dashboard_{name}", user_id) for name in DASHBOARD}
        return dashboard_from_rows(user_id, **reads)

    def _recipe(self, session_key: str, query: str, *arguments: int) -> Recipe:
        with connected(self._pool) as connection:
            user_id = self._user(connection, session_key)
            recipes = fetch(connection, query, user_id, *arguments)
            if not recipes:
                raise NotFound
            recipe = recipes[0]
            parts = {name: fetch(connection, name, recipe[0]) for name in PARTS}
        return recipe_from_rows(recipe, **parts)

    def _user(self, connection: Connection, session_key: str) -> int:
        """What every request begins with."""
        if self._set_time_zone:
            connection.execute(SET_TIME_ZONE, prepare=False)
        sessions = fetch(connection, "session", session_key)
        if not sessions:
            raise Unauthorized
        user_id: int = sessions[0][0]
        return user_id


def fetch(connection: Connection, query: str, *arguments: int | str) -> list[Row]:
    return connection.execute(QUERIES[query], arguments).fetchall()
