"""The tables as Django's ORM knows them; the database has them already.

https://docs.djangoproject.com/en/6.1/ref/models/options/#managed
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models

USER_CONTENT_TYPE, TEAM_CONTENT_TYPE = 1, 20


class User(models.Model):
    id = models.IntegerField(primary_key=True)
    email = models.TextField()
    name = models.TextField(null=True)

    class Meta:
        managed = False
        db_table = "core_myuser"


class Session(models.Model):
    session_key = models.TextField(primary_key=True)
    user_id = models.IntegerField()
    expire_date = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "user_sessions_session"


class Membership(models.Model):
    id = models.IntegerField(primary_key=True)
    team_id = models.IntegerField()
    user_id = models.IntegerField()
    is_active = models.BooleanField()

    class Meta:
        managed = False
        db_table = "core_membership"


class Recipe(models.Model):
    id = models.IntegerField(primary_key=True)
    name = models.TextField()
    author = models.TextField(null=True)
    source = models.TextField(null=True)
    time = models.TextField()
    servings = models.TextField()
    edits = models.IntegerField()
    created = models.DateTimeField()
    modified = models.DateTimeField()
    archived_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)
    tags = ArrayField(models.TextField())
    object_id = models.IntegerField()
    content_type_id = models.IntegerField()

    class Meta:
        managed = False
        db_table = "core_recipe"


class Ingredient(models.Model):
    id = models.IntegerField(primary_key=True)
    recipe = models.ForeignKey(Recipe, models.DO_NOTHING, related_name="ingredients")
    position = models.TextField()
    quantity = models.TextField()
    name = models.TextField()
    description = models.TextField()
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        managed = False
        db_table = "core_ingredient"


class Section(models.Model):
    id = models.IntegerField(primary_key=True)
    recipe = models.ForeignKey(Recipe, models.DO_NOTHING, related_name="sections")
    title = models.TextField()
    position = models.TextField()
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        managed = False
        db_table = "core_section"


class Step(models.Model):
    id = models.IntegerField(primary_key=True)
    recipe = models.ForeignKey(Recipe, models.DO_NOTHING, related_name="steps")
    position = models.TextField()
    text = models.TextField()
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        managed = False
        db_table = "core_step"


class Note(models.Model):
    id = models.AutoField(primary_key=True)
    recipe = models.ForeignKey(Recipe, models.DO_NOTHING, related_name="notes")
    text = models.TextField()
    created = models.DateTimeField()
    modified = models.DateTimeField()
    created_by = models.ForeignKey(User, models.DO_NOTHING, related_name="+")
    last_modified_by = models.ForeignKey(User, models.DO_NOTHING, related_name="+", null=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        managed = False
        db_table = "core_note"


class Reaction(models.Model):
    id = models.IntegerField(primary_key=True)
    note = models.ForeignKey(Note, models.DO_NOTHING, related_name="reactions")
    emoji = models.TextField()
    created_by_id = models.IntegerField()
    created = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "core_reaction"


class Event(models.Model):
    id = models.AutoField(primary_key=True)
    recipe = models.ForeignKey(Recipe, models.DO_NOTHING, related_name="events")
    action = models.TextField()
    created = models.DateTimeField()
    created_by_id = models.IntegerField(null=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        managed = False
        db_table = "timeline_event"
