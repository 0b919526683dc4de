"""Rows as the contract's queries return them, and the body that they must become."""

from datetime import UTC, datetime
from typing import Any

MORNING = datetime(2024, 1, 1, 8, 0, 0, tzinfo=UTC)
NOON = datetime(2024, 1, 1, 12, 30, 0, 999_999, tzinfo=UTC)

ROWS: dict[str, Any] = {
    "recipe": (7, "Crème", None, "s", "1 minute", "2", 3, MORNING, NOON, None, ["soup", "½"], 5, 20),
    "ingredients": [(1, "a1", "2 g", "rock\\fish", "")],
    "steps": [(2, "a2", '"al dente"\n')],
    "sections": [(3, "b5", "A&B")],
    "notes": [
        (4, "first", MORNING, NOON, 1, "a@example.org", None, None, None, None),
        (5, "second", MORNING, NOON, 1, "a@example.org", "A", 2, "b@example.org", "B"),
    ],
    "reactions": [(6, 5, "❤️", 1, NOON)],
    "timeline_events": [(8, "created", None, MORNING)],
}

BODY = (
    '{"id":7,"name":"Crème","author":null,"source":"s","time":"1 minute","servings":"2","edits":3,'
    '"created":"2024-01-01T08:00:00Z","modified":"2024-01-01T12:30:00Z","archived_at":null,"tags":["soup","½"],'
    '"owner":{"kind":"team","id":5},'
    '"ingredients":[{"kind":"ingredient","id":1,"position":"a1","quantity":"2 g","name":"rock\\\\fish",'
    '"description":""},{"kind":"section","id":3,"position":"b5","title":"A&B"}],'
    '"steps":[{"id":2,"position":"a2","text":"\\"al dente\\"\\n"}],'
    '"timeline":[{"kind":"note","id":4,"text":"first","created":"2024-01-01T08:00:00Z",'
    '"modified":"2024-01-01T12:30:00Z","created_by":{"id":1,"email":"a@example.org","name":null},'
    '"last_modified_by":null,"reactions":[]},'
    '{"kind":"note","id":5,"text":"second","created":"2024-01-01T08:00:00Z","modified":"2024-01-01T12:30:00Z",'
    '"created_by":{"id":1,"email":"a@example.org","name":"A"},'
    '"last_modified_by":{"id":2,"email":"b@example.org","name":"B"},'
    '"reactions":[{"id":6,"emoji":"❤️","created_by_id":1,"created":"2024-01-01T12:30:00Z"}]},'
    '{"kind":"event","id":8,"action":"created","created_by_id":null,"created":"2024-01-01T08:00:00Z"}]}'
).encode()

DASHBOARD_ROWS: dict[str, Any] = {
    "recipes": [(7, "Crème", NOON)],
    "teams": [(5, "½", 3)],
    "notes": [(4, 7, "first", MORNING)],
    "events": [(8, 7, "created", NOON)],
}

DASHBOARD_BODY = (
    '{"user_id":1,"recipes":[{"id":7,"name":"Crème","modified":"2024-01-01T12:30:00Z"}],'
    '"teams":[{"id":5,"name":"½","members":3}],'
    '"notes":[{"id":4,"recipe_id":7,"text":"first","created":"2024-01-01T08:00:00Z"}],'
    '"events":[{"id":8,"recipe_id":7,"action":"created","created":"2024-01-01T12:30:00Z"}]}'
).encode()
