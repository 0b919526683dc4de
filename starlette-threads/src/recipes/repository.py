"""The contract's statements, one after the other, on one connection for a request."""

from recipes.database import Connection, Database
from shared.config import settings
from shared.contract import DASHBOARD, PARTS, QUERIES, SET_TIME_ZONE
from shared.errors import NotFound, Unauthorized
from shared.models import Dashboard, Recipe, Row, dashboard_from_rows, recipe_from_rows


class Repository:
    def __init__(self, database: Database) -> None:
        self._database = database

    def random_recipe(self, session_key: str) -> Recipe:
        """Raises Unauthorized without a live session, NotFound if its user sees no recipe."""
        return self._recipe(session_key, "recipe_random")

    def recipe_by_id(self, session_key: str, recipe_id: int) -> Recipe:
        """Raises Unauthorized without a live session, NotFound if its user sees no such recipe."""
        return self._recipe(session_key, "recipe_by_id", recipe_id)

    def write_note(self, session_key: str, recipe_id: int, text: str) -> int:
        """The new note's id, once it is stored with its event; raises as `recipe_by_id`."""
        with self._database.connection() as connection:
            user_id = find_user(connection, session_key)
            with connection.transaction():
                notes = fetch(connection, "note_insert", user_id, recipe_id, text)
                if not notes:
                    raise NotFound
                connection.execute(QUERIES["event_insert"], (user_id, recipe_id))
        return int(notes[0][0])

    def dashboard(self, session_key: str) -> Dashboard:
        """Raises Unauthorized without a live session."""
        with self._database.connection() as connection:
            user_id = find_user(connection, session_key)
            reads = {name: fetch(connection, f"dashboard_{name}", user_id) for name in DASHBOARD}
        return dashboard_from_rows(user_id, **reads)

    def _recipe(self, session_key: str, query: str, *arguments: int) -> Recipe:
        with self._database.connection() as connection:
            user_id = find_user(connection, session_key)
            recipes = fetch(connection, query, user_id, *arguments)
            if not recipes:
                raise NotFound
            parts = {name: fetch(connection, name, recipes[0][0]) for name in PARTS}
        return recipe_from_rows(recipes[0], **parts)


def find_user(connection: Connection, session_key: str) -> int:
    """What every request begins with; raises Unauthorized."""
    if settings.db_time_zone == "request":
        connection.execute(SET_TIME_ZONE, prepare=False)
    sessions = fetch(connection, "session", session_key)
    if not sessions:
        raise Unauthorized
    return int(sessions[0][0])


def fetch(connection: Connection, query: str, *arguments: int | str) -> list[Row]:
    return connection.execute(QUERIES[query], arguments).fetchall()
