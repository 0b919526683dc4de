"""What a request says, checked: path, query, cookie and body."""

import re
from typing import Annotated

import msgspec

from shared.errors import BadRequest, PayloadTooLarge, Unauthorized, Unprocessable

MAX_BODY = 1_048_576
MAX_RECIPE_ID = 2**31 - 1
MAX_DELAY_MS = 10_000


class NewNote(msgspec.Struct, forbid_unknown_fields=True):
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=10_000, pattern=r"^[^\0]*\Z")]


note = msgspec.json.Decoder(NewNote)
number_list = msgspec.json.Decoder(list[Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]])


def recipe_id(text: str) -> int:
    """The id in a path; raises BadRequest."""
    if not re.fullmatch(r"[1-9][0-9]{0,9}", text) or int(text) > MAX_RECIPE_ID:
        raise BadRequest
    return int(text)


def delay_s(texts: list[str] | None) -> float:
    """The values of the parameter `delay_ms` in seconds; raises BadRequest."""
    if not texts:
        return 0
    if len(texts) > 1 or not re.fullmatch(r"0*[0-9]{1,5}", texts[0]) or int(texts[0]) > MAX_DELAY_MS:
        raise BadRequest
    return int(texts[0]) / 1000


def session_key(cookie: str | None) -> str:
    """The session's cookie; raises Unauthorized."""
    # A quoted cookie can hold any octet, PostgreSQL's text anything but NUL.
    if not cookie or "\0" in cookie:
        raise Unauthorized
    return cookie


def check_length(length: int) -> None:
    """Before and after a body is read; raises PayloadTooLarge."""
    if length > MAX_BODY:
        raise PayloadTooLarge


def numbers(body: bytes) -> list[int]:
    """Integers of 32 bits; raises BadRequest or Unprocessable."""
    return decode(number_list, body)


def note_text(body: bytes) -> str:
    """The text of a new note; raises BadRequest or Unprocessable."""
    return decode(note, body).text


def decode[T](decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise Unprocessable from error
    except (ValueError, RecursionError) as error:
        raise BadRequest from error
