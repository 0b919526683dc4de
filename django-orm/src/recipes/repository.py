"""What a request asks of the database, one statement after the other."""

from django.db import transaction
from django.db.models.functions import Now

from recipes import answers, queries
from recipes.models import Event, Note, Recipe, Session
from shared import models
from shared.errors import NotFound, Unauthorized


def random_recipe(session_key: str) -> models.Recipe:
    """Raises Unauthorized without a live session, NotFound if its user sees no recipe."""
    found = queries.visible_whole(user_of(session_key)).order_by("?").first()
    if found is None:
        raise NotFound
    return answers.recipe(found)


def recipe_by_id(session_key: str, recipe_id: int) -> models.Recipe:
    """Raises Unauthorized without a live session, NotFound if its user sees no such recipe."""
    try:
        return answers.recipe(queries.visible_whole(user_of(session_key)).get(pk=recipe_id))
    except Recipe.DoesNotExist:
        raise NotFound from None


def write_note(session_key: str, recipe_id: int, text: str) -> int:
    """The new note's id, once it is stored with its event; raises as `recipe_by_id`."""
    user_id = user_of(session_key)
    if not queries.visible(user_id).filter(pk=recipe_id).exists():
        raise NotFound
    with transaction.atomic():
        note = Note.objects.create(recipe_id=recipe_id, text=text, created=Now(), modified=Now(), created_by_id=user_id)
        Event.objects.create(recipe_id=recipe_id, action="note added", created=Now(), created_by_id=user_id)
    return note.pk


def user_of(session_key: str) -> int:
    """What every request begins with."""
    try:
        return queries.sessions().get(session_key=session_key)
    except Session.DoesNotExist:
        raise Unauthorized from None
