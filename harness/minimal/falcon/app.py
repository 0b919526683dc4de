"""Falcon and psycopg, as short as they allow."""

import os
from pathlib import Path
from typing import Any

import falcon
import orjson
import psycopg
from psycopg_pool import ConnectionPool

CONTRACT = Path("/app/contract")
SQL = {file.stem: file.read_text() for file in (CONTRACT / "sql/queries").glob("*.sql")}
PAGE = (CONTRACT / "golden/index.html").read_bytes()
PARTS = ("ingredients", "steps", "sections", "notes", "reactions", "timeline_events")
RECIPE = (
    "id",
    "name",
    "author",
    "source",
    "time",
    "servings",
    "edits",
    "created",
    "modified",
    "archived_at",
    "tags",
)
INGREDIENT = ("id", "position", "quantity", "name", "description")


def named(names: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(names, row, strict=False))


class Health:
    def on_get(self, _: falcon.Request, response: falcon.Response) -> None:
        response.text = "ok"


class Index:
    def on_get(self, _: falcon.Request, response: falcon.Response) -> None:
        response.content_type = "text/html; charset=utf-8"
        response.data = PAGE


class Recipes:
    def __init__(self, pool: ConnectionPool) -> None:
        self.pool = pool

    def on_get(self, request: falcon.Request, response: falcon.Response) -> None:
        with self.pool.connection() as connection:

            def rows(name: str, *arguments: Any) -> list[tuple[Any, ...]]:
                return connection.execute(SQL[name], arguments).fetchall()

            ((user,),) = rows("session", request.cookies["sessionid"])
            (found,) = rows("recipe_random", user)
            parts = {name: rows(name, found[0]) for name in PARTS}
        recipe = named(RECIPE, found)
        recipe["owner"] = {"kind": "user" if found[12] == 1 else "team", "id": found[11]}
        recipe["ingredients"] = [
            {"kind": "ingredient", **named(INGREDIENT, row)} for row in parts["ingredients"]
        ]
        recipe["ingredients"] += [
            {"kind": "section", **named(("id", "position", "title"), row)} for row in parts["sections"]
        ]
        recipe["steps"] = [named(("id", "position", "text"), row) for row in parts["steps"]]
        reactions: dict[int, list[dict[str, Any]]] = {}
        for key, note, emoji, by, at in parts["reactions"]:
            reaction = {"id": key, "emoji": emoji, "created_by_id": by, "created": at}
            reactions.setdefault(note, []).append(reaction)
        person = ("id", "email", "name")
        recipe["timeline"] = [
            {
                "kind": "note",
                **named(("id", "text", "created", "modified"), row),
                "created_by": named(person, row[4:7]),
                "last_modified_by": row[7] and named(person, row[7:]),
                "reactions": reactions.get(row[0], []),
            }
            for row in parts["notes"]
        ]
        recipe["timeline"] += [
            {"kind": "event", **named(("id", "action", "created_by_id", "created"), row)}
            for row in parts["timeline_events"]
        ]
        response.data = orjson.dumps(recipe, option=orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS)


def build() -> falcon.App[falcon.Request, falcon.Response]:
    """The application of one worker."""
    size = int(os.environ["DB_POOL_MAX"]) // int(os.environ["WORKERS"])
    options = {"autocommit": True, "prepare_threshold": 0, "cursor_factory": psycopg.RawCursor}
    url, limits = os.environ["DATABASE_URL"], {"min_size": size, "max_size": size, "timeout": 1.5}
    pool = ConnectionPool(url, kwargs=options, open=True, **limits)
    pool.wait()
    app = falcon.App()
    app.add_route("/healthz", Health())
    app.add_route("/", Index())
    app.add_route("/api/v1/recipes", Recipes(pool))
    return app
