"""What a request asks of the database, one statement after the other, by the ORM's async API.

https://docs.djangoproject.com/en/6.1/topics/async/#queries-the-orm
"""

from asgiref.sync import sync_to_async
from django.db import transaction
from django.db.models.functions import Now

from recipes import answers, queries
from recipes.models import Event, Note, Recipe, Session
from shared import models
from shared.errors import NotFound, Unauthorized


async def random_recipe(session_key: str) -> models.Recipe:
    """Raises Unauthorized without a live session, NotFound if its user sees no recipe."""
    found = await queries.visible_whole(await user_of(session_key)).order_by("?").afirst()
    if found is None:
        raise NotFound
    return answers.recipe(found)


async def recipe_by_id(session_key: str, recipe_id: int) -> models.Recipe:
    """Raises Unauthorized without a live session, NotFound if its user sees no such recipe."""
    try:
        return answers.recipe(await queries.visible_whole(await user_of(session_key)).aget(pk=recipe_id))
    except Recipe.DoesNotExist:
        raise NotFound from None


async def write_note(session_key: str, recipe_id: int, text: str) -> int:
    """The new note's id, once it is stored with its event; raises as `recipe_by_id`."""
    user_id = await user_of(session_key)
    if not await queries.visible(user_id).filter(pk=recipe_id).aexists():
        raise NotFound
    return await insert_note(user_id, recipe_id, text)


@sync_to_async
def insert_note(user_id: int, recipe_id: int, text: str) -> int:
    """In a thread, as transactions have no async API. https://docs.djangoproject.com/en/6.1/topics/async/#limitations"""
    with transaction.atomic():
        note = Note.objects.create(recipe_id=recipe_id, text=text, created=Now(), modified=Now(), created_by_id=user_id)
        Event.objects.create(recipe_id=recipe_id, action="note added", created=Now(), created_by_id=user_id)
    return note.pk


async def user_of(session_key: str) -> int:
    """What every request begins with."""
    try:
        return await queries.sessions().aget(session_key=session_key)
    except Session.DoesNotExist:
        raise Unauthorized from None
