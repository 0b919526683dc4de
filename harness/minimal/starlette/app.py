"""Starlette and asyncpg, as short as they allow."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

CONTRACT = Path("/app/contract")
SQL = {file.stem: file.read_text() for file in (CONTRACT / "sql/queries").glob("*.sql")}
PAGE = (CONTRACT / "golden/index.html").read_bytes()
PARTS = ("ingredients", "steps", "sections", "notes", "reactions", "timeline_events")
NOTE = ("id", "text", "created", "modified")
REACTION = ("id", "emoji", "created_by_id", "created")


async def keep(_: asyncpg.Connection) -> None:
    """The reset on release is a statement that the contract does not have."""


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[dict[str, Any]]:
    size = int(os.environ["DB_POOL_MAX"]) // int(os.environ["WORKERS"])
    async with asyncpg.create_pool(
        os.environ["DATABASE_URL"],
        min_size=size,
        max_size=size,
        reset=keep,
        # The time limits that python-async has.
        command_timeout=2,
        server_settings={"client_encoding": "UTF8"},
    ) as pool:
        yield {"pool": pool}


async def healthz(_: Request) -> Response:
    return PlainTextResponse("ok")


async def index(_: Request) -> Response:
    return HTMLResponse(PAGE)


async def recipes(request: Request) -> Response:
    async with request.state.pool.acquire(timeout=1.5) as connection:
        user = await connection.fetchval(SQL["session"], request.cookies["sessionid"])
        recipe = dict(await connection.fetchrow(SQL["recipe_random"], user))
        parts = {name: await connection.fetch(SQL[name], recipe["id"]) for name in PARTS}
    kind = "user" if recipe.pop("content_type_id") == 1 else "team"
    recipe["owner"] = {"kind": kind, "id": recipe.pop("object_id")}
    recipe["ingredients"] = [{"kind": "ingredient", **row} for row in parts["ingredients"]]
    recipe["ingredients"] += [{"kind": "section", **row} for row in parts["sections"]]
    recipe["steps"] = [dict(row) for row in parts["steps"]]
    reactions: dict[int, list[dict[str, Any]]] = {}
    for row in parts["reactions"]:
        reactions.setdefault(row["note_id"], []).append({name: row[name] for name in REACTION})
    recipe["timeline"] = [
        {
            "kind": "note",
            **{name: row[name] for name in NOTE},
            "created_by": {"id": row["author_id"], "email": row["author_email"], "name": row["author_name"]},
            "last_modified_by": row["editor_id"]
            and {"id": row["editor_id"], "email": row["editor_email"], "name": row["editor_name"]},
            "reactions": reactions.get(row["id"], []),
        }
        for row in parts["notes"]
    ]
    recipe["timeline"] += [{"kind": "event", **row} for row in parts["timeline_events"]]
    body = orjson.dumps(recipe, option=orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS)
    return Response(body, media_type="application/json")


app = Starlette(
    routes=[Route("/healthz", healthz), Route("/", index), Route("/api/v1/recipes", recipes)],
    lifespan=lifespan,
)
