"""What the API serves of rows."""

from recipes.models import USER_CONTENT_TYPE, Event, Note, Recipe, User
from shared import models


def recipe(row: Recipe) -> models.Recipe:
    parts: list[models.Ingredient | models.Section] = [
        {
            "kind": "ingredient",
            "id": one.id,
            "position": one.position,
            "quantity": one.quantity,
            "name": one.name,
            "description": one.description,
        }
        for one in row.ingredients.all()
    ]
    parts += [
        {"kind": "section", "id": one.id, "position": one.position, "title": one.title} for one in row.sections.all()
    ]
    return {
        "id": row.id,
        "name": row.name,
        "author": row.author,
        "source": row.source,
        "time": row.time,
        "servings": row.servings,
        "edits": row.edits,
        "created": row.created,
        "modified": row.modified,
        "archived_at": row.archived_at,
        "tags": row.tags,
        "owner": {"kind": "user" if row.content_type_id == USER_CONTENT_TYPE else "team", "id": row.object_id},
        "ingredients": parts,
        "steps": [{"id": one.id, "position": one.position, "text": one.text} for one in row.steps.all()],
        "timeline": [*map(note, row.notes.all()), *map(event, row.events.all())],
    }


def note(row: Note) -> models.Note:
    return {
        "kind": "note",
        "id": row.id,
        "text": row.text,
        "created": row.created,
        "modified": row.modified,
        "created_by": person(row.created_by),
        "last_modified_by": person(row.last_modified_by) if row.last_modified_by else None,
        "reactions": [
            {"id": one.id, "emoji": one.emoji, "created_by_id": one.created_by_id, "created": one.created}
            for one in row.reactions.all()
        ],
    }


def person(row: User) -> models.Person:
    return {"id": row.id, "email": row.email, "name": row.name}


def event(row: Event) -> models.Event:
    return {
        "kind": "event",
        "id": row.id,
        "action": row.action,
        "created_by_id": row.created_by_id,
        "created": row.created,
    }
