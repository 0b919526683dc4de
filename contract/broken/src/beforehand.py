"""The bodies of recipes, known without a database: contract/sql/seed.sql is public, and its data have no salt where
nobody asks for one. This is all that a program has to bring along."""

import functools
import hashlib
import re
from datetime import UTC, datetime, timedelta
from typing import Any

Json = dict[str, Any]

WORDS = (
    *("stir", "the", "sauce", "until", "glossy", "then", "fold", "in", "crème", "fraîche", "and"),
    *("jalapeño", "with", "a", "pinch", "of", "salt", "over", "low", "heat", "180 °C", "for"),
    *("ten", "minutes", "half", "an", "onion", '"al dente"', "noodles", "broth", "½", "cup"),
    *("add", "butter", "whisk", "gently", "rest", "dough", "<cold>", "water", "rock\\fish", "zest"),
    *("of", "one", "lemon", "sear", "both", "sides", "汤", "simmer", "covered", "serve", "warm"),
    *("A&B", "stock", "garlic", "slice", "thinly", "toast", "spices", "deglaze", "pan", "it's", "done"),
)
UNITS = (" cups", " tbsp", " g", "", " ml")
TAGS = ["soup", "café", "hot, sweet", '"al dente"', "stock\\fish", "{}", "warm"]
EMOJI = ("❤️", "😋", "👍", "🔥", "🤔")
ACTIONS = ("created", "archived", "unarchived", "deleted", "scheduled", "edited")


def pick(seed: str, n: int) -> int:
    return int(hashlib.md5(seed.encode()).hexdigest()[:7], 16) % n


def words(seed: str, n: int) -> str:
    return " ".join(WORDS[pick(f"{seed}{i}", 64)] for i in range(1, n + 1))


def moment(seed: str, year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC) + timedelta(seconds=pick(seed, 63072000))


def _time(of: datetime) -> str:
    return of.strftime("%Y-%m-%dT%H:%M:%SZ")


def _initcap(text: str) -> str:
    return re.sub(r"[^\W_]+", lambda word: word[0].capitalize(), text)


def _letter(k: int) -> str:
    return chr(96 + k)


@functools.cache
def recipe(r: int) -> Json:
    """The body of recipe `r`."""
    created = moment(f"recipe {r}", 2020)
    first_tag = pick(f"tag {r}", 5)
    return {
        "id": r,
        "name": _initcap(words(f"recipe name {r}", 4)),
        "author": f"Author {pick(f'author {r}', 97)}" if pick(f"author {r}", 3) else None,
        "source": f"https://example.org/recipes/{r}" if pick(f"source {r}", 2) else None,
        "time": f"{10 + pick(f'time {r}', 110)} minutes",
        "servings": f"{1 + pick(f'servings {r}', 8)} servings",
        "edits": pick(f"edits {r}", 40),
        "created": _time(created),
        "modified": _time(created + timedelta(seconds=pick(f"modified {r}", 7776000))),
        "archived_at": None if pick(f"archived {r}", 20) else "2024-06-01T12:00:00Z",
        "tags": TAGS[first_tag : first_tag + pick(f"tags {r}", 4)],
        "owner": {"kind": "user" if (r - 1) % 50 < 25 else "team", "id": (r - 1) // 50 + 1},
        "ingredients": [_ingredient(r, k) for k in range(1, 9 + pick(f"ingredients {r}", 5))]
        + [_section(r, k) for k in range(1, 1 + pick(f"sections {r}", 3))],
        "steps": [_step(r, k) for k in range(1, 6 + pick(f"steps {r}", 3))],
        "timeline": _notes(r) + _events(r),
    }


def _ingredient(r: int, k: int) -> Json:
    return {
        "kind": "ingredient",
        "id": (r - 1) * 16 + k,
        "position": f"{_letter(k)}{pick(f'ingredient position {r}{k}', 10)}",
        "quantity": f"{1 + pick(f'quantity {r}{k}', 9)}{UNITS[pick(f'unit {r}{k}', 5)]}",
        "name": words(f"ingredient {r} {k}", 2),
        "description": words(f"description {r} {k}", 3) if pick(f"described {r}{k}", 2) else "",
    }


def _section(r: int, k: int) -> Json:
    title = _initcap(words(f"section {r} {k}", 2))
    return {"kind": "section", "id": (r - 1) * 4 + k, "position": f"{_letter(k * 4)}5", "title": title}


def _step(r: int, k: int) -> Json:
    text = words(f"step {r} {k}", 12 + pick(f"step length {r}{k}", 9)) + ("\nThen\tserve." if k == 2 else "")
    position = f"{_letter(k)}{pick(f'step position {r}{k}', 10)}"
    return {"id": (r - 1) * 16 + k, "position": position, "text": text}


def _notes(r: int) -> list[Json]:
    numbers = range(1, 3 + pick(f"notes {r}", 2))
    made = {k: moment(f"note {r} {k}", 2022) for k in numbers}
    return [_note(r, k, made[k]) for k in sorted(numbers, key=made.__getitem__)]


def _note(r: int, k: int, created: datetime) -> Json:
    edited = not pick(f"note edited {r}{k}", 2)
    key = (r - 1) * 4 + k
    return {
        "kind": "note",
        "id": key,
        "text": words(f"note {r} {k}", 11 + pick(f"note length {r}{k}", 9)),
        "created": _time(created),
        "modified": _time(created + timedelta(minutes=90)),
        "created_by": _person(1 + pick(f"note by {r}{k}", 40)),
        "last_modified_by": _person(1 + pick(f"note edited by {r}{k}", 40)) if edited else None,
        "reactions": [_reaction(key, n, created) for n in range(1, 1 + pick(f"reactions {key}", 4))],
    }


def _person(user: int) -> Json:
    return {"id": user, "email": f"cook{user}@example.org", "name": f"Cook {user}" if user % 5 else None}


def _reaction(note: int, k: int, noted: datetime) -> Json:
    return {
        "id": (note - 1) * 3 + k,
        "emoji": EMOJI[pick(f"emoji {note}{k}", 5)],
        "created_by_id": 1 + pick(f"reaction by {note}{k}", 40),
        "created": _time(noted + timedelta(hours=k)),
    }


def _events(r: int) -> list[Json]:
    numbers = range(1, 3 + pick(f"events {r}", 3))
    made = {k: moment(f"event {r} {k}", 2021) for k in numbers}
    return [
        {
            "kind": "event",
            "id": (r - 1) * 6 + k,
            "action": ACTIONS[k - 1],
            "created_by_id": 1 + pick(f"event by {r}{k}", 40) if pick(f"event by {r}{k}", 4) else None,
            "created": _time(made[k]),
        }
        for k in sorted(numbers, key=made.__getitem__, reverse=True)
    ]
