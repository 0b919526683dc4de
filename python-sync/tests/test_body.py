"""Bodies that Django does not read by itself."""

import io
from typing import Any

import pytest
from django.test import RequestFactory

from recipes.body import read_body
from recipes.config import MAX_BODY
from recipes.errors import ApiError, BadRequest, PayloadTooLarge


@pytest.mark.parametrize(
    ("content", "error"),
    [(b" " * (MAX_BODY + 1), PayloadTooLarge), (OSError("gone"), BadRequest)],
    ids=["large", "gone"],
)
def test_a_body_without_a_length(content: Any, error: type[ApiError]) -> None:
    class Broken:
        def read(self, _: int) -> bytes:
            raise content

    stream = Broken() if isinstance(content, Exception) else io.BytesIO(content)
    request = RequestFactory().post("/work")
    request.META.update({"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input": stream})
    with pytest.raises(error):
        read_body(request)
