"""What a request says, checked: path, query, cookie and what its body has."""

import re
from typing import Annotated

import msgspec
from django.http import HttpRequest

from recipes.errors import BadRequest, Unauthorized, Unprocessable

RECIPE_ID = re.compile(r"[1-9][0-9]{0,9}")
MAX_RECIPE_ID = 2**31 - 1
DELAY_MS = re.compile(r"0*[0-9]{1,5}")
MAX_DELAY_MS = 10_000


class NewNote(msgspec.Struct, forbid_unknown_fields=True):
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=10_000, pattern=r"^[^\0]*\Z")]


number_list = msgspec.json.Decoder(list[Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]])
note = msgspec.json.Decoder(NewNote)
any_json = msgspec.json.Decoder(msgspec.Raw)


def recipe_id(text: str) -> int:
    """The id in a path; raises BadRequest."""
    if not RECIPE_ID.fullmatch(text) or int(text) > MAX_RECIPE_ID:
        raise BadRequest
    return int(text)


def delay_s(texts: list[str]) -> float:
    """The parameter `delay_ms` in seconds; raises BadRequest, also when it is given twice."""
    if not texts:
        return 0
    if len(texts) > 1 or not DELAY_MS.fullmatch(texts[0]) or int(texts[0]) > MAX_DELAY_MS:
        raise BadRequest
    return int(texts[0]) / 1000


def session_key(request: HttpRequest) -> str:
    """The session's cookie; raises Unauthorized."""
    key = request.COOKIES.get("sessionid")
    # A quoted cookie can hold any octet, PostgreSQL's text anything but NUL.
    if not key or "\0" in key:
        raise Unauthorized
    return key


def numbers(content: bytes) -> list[int]:
    """Integers of 32 bits; raises BadRequest or Unprocessable."""
    return decode(number_list, content)


def new_note(content: bytes) -> NewNote:
    """Raises BadRequest or Unprocessable."""
    return decode(note, content)


def decode[T](decoder: msgspec.json.Decoder[T], content: bytes) -> T:
    try:
        return decoder.decode(content)
    except msgspec.ValidationError as error:
        # msgspec stops at the first value that does not fit; what comes after it may be no JSON at all.
        raise Unprocessable if is_json(content) else BadRequest from error
    except ValueError as error:
        raise BadRequest from error


def is_json(content: bytes) -> bool:
    try:
        content.decode()
        any_json.decode(content)
    except (ValueError, RecursionError):
        return False
    return True
