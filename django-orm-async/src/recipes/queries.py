"""What the application asks the database, in the words of the ORM."""

from django.db.models import Prefetch, Q, QuerySet
from django.db.models.functions import Collate, Now

from recipes.models import (
    TEAM_CONTENT_TYPE,
    USER_CONTENT_TYPE,
    Event,
    Ingredient,
    Membership,
    Note,
    Reaction,
    Recipe,
    Section,
    Session,
    Step,
)

BY_POSITION = (Collate("position", "C"), "id")
NOTES = (
    Note.objects.filter(deleted_at=None)
    .select_related("created_by", "last_modified_by")
    .prefetch_related(Prefetch("reactions", Reaction.objects.order_by("created", "id")))
    .order_by("created", "id")
)
# One statement for each part of a recipe. https://docs.djangoproject.com/en/6.1/ref/models/querysets/#prefetch-objects
PARTS = (
    Prefetch("ingredients", Ingredient.objects.filter(deleted_at=None).order_by(*BY_POSITION)),
    Prefetch("steps", Step.objects.filter(deleted_at=None).order_by(*BY_POSITION)),
    Prefetch("sections", Section.objects.filter(deleted_at=None).order_by(*BY_POSITION)),
    Prefetch("notes", NOTES),
    Prefetch("events", Event.objects.filter(deleted_at=None).order_by("-created", "-id")),
)


def sessions() -> QuerySet[Session, int]:
    """The users of the live sessions."""
    return Session.objects.filter(expire_date__gt=Now()).values_list("user_id", flat=True)


def visible(user_id: int) -> QuerySet[Recipe]:
    teams = Membership.objects.filter(user_id=user_id, is_active=True).values("team_id")
    own = Q(content_type_id=USER_CONTENT_TYPE, object_id=user_id)
    of_teams = Q(content_type_id=TEAM_CONTENT_TYPE, object_id__in=teams)
    return Recipe.objects.filter(own | of_teams, deleted_at=None)


def visible_whole(user_id: int) -> QuerySet[Recipe]:
    """The same with all that an answer shows."""
    return visible(user_id).prefetch_related(*PARTS)
