"""The paths, without `async`: FastAPI runs a `def` handler in a thread of its pool. https://fastapi.tiangolo.com/tutorial/"""

import time
from typing import Annotated

from fastapi import APIRouter, Body, Cookie, Path, Query
from fastapi.responses import HTMLResponse, PlainTextResponse

from recipes import models, queries, schemas
from recipes.database import DatabaseSession
from shared.contract import INDEX
from shared.errors import NotFound, Unauthorized
from shared.inputs import MAX_DELAY_MS, MAX_RECIPE_ID, session_key

router = APIRouter()

SessionCookie = Annotated[str | None, Cookie(alias="sessionid")]
RecipeId = Annotated[int, Path(ge=1, le=MAX_RECIPE_ID)]


@router.get("/")
@router.get("/index.html")
@router.get("/index.htm")
def index() -> HTMLResponse:
    return HTMLResponse(INDEX)


@router.get("/healthz")
def healthz() -> schemas.Health:
    return schemas.Health()


@router.post("/work")
def work(
    numbers: Annotated[list[schemas.Number], Body()],
    delay_ms: Annotated[int, Query(ge=0, le=MAX_DELAY_MS)] = 0,
) -> PlainTextResponse:
    total = sum(numbers)
    time.sleep(delay_ms / 1000)
    return PlainTextResponse(f"Sum: {total}")


@router.get("/api/v1/recipes", response_model=schemas.Recipe)
def random_recipe(session: DatabaseSession, cookie: SessionCookie = None) -> models.Recipe:
    user_id = user_of(session, cookie)
    return found(session.scalar(queries.random_recipe(user_id)))


@router.get("/api/v1/recipes/{recipe_id:int}", response_model=schemas.Recipe)
def recipe_by_id(recipe_id: RecipeId, session: DatabaseSession, cookie: SessionCookie = None) -> models.Recipe:
    user_id = user_of(session, cookie)
    return found(session.scalar(queries.recipe_by_id(user_id, recipe_id)))


@router.post("/api/v1/recipes/{recipe_id:int}/notes", status_code=201)
def write_note(
    recipe_id: RecipeId, note: schemas.NewNote, session: DatabaseSession, cookie: SessionCookie = None
) -> schemas.Written:
    user_id = user_of(session, cookie)
    found(session.scalar(queries.visible_recipe(user_id, recipe_id)))
    written = models.Note(recipe_id=recipe_id, text=note.text, created_by_id=user_id)
    session.add_all([written, models.Event(recipe_id=recipe_id, action="note added", created_by_id=user_id)])
    session.commit()
    return schemas.Written(id=written.id)


def user_of(session: DatabaseSession, cookie: str | None) -> int:
    """Raises Unauthorized."""
    user_id = session.scalar(queries.user_of(session_key(cookie)))
    if user_id is None:
        raise Unauthorized
    return user_id


def found[T](row: T | None) -> T:
    """Raises NotFound."""
    if row is None:
        raise NotFound
    return row
