import pytest

from shared import inputs
from shared.config import MAX_BODY
from shared.errors import BadRequest, PayloadTooLarge


def test_ten_thousand_characters() -> None:
    text = "😀" * 10_000
    assert inputs.new_note(f'{{"text":"{text}"}}'.encode()).text == text


def test_a_length_beyond_the_limit_is_refused_unread() -> None:
    inputs.check_length(None)
    inputs.check_length(MAX_BODY)
    with pytest.raises(PayloadTooLarge):
        inputs.check_length(MAX_BODY + 1)


def test_a_body_is_whole_or_refused() -> None:
    assert inputs.whole(b"[1]", 3) == b"[1]"
    assert inputs.whole(b"[1]", None) == b"[1]"
    with pytest.raises(BadRequest):
        inputs.whole(b'{"text":"a"}', 100)
    with pytest.raises(PayloadTooLarge):
        inputs.whole(b" " * (MAX_BODY + 1), None)
