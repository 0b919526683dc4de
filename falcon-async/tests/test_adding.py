import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from recipes import adding
from shared.config import Offload
from shared.errors import BadRequest, Unprocessable
from shared.inputs import numbers


@pytest.mark.parametrize(("offload", "parsed", "summed"), [("none", 0, 0), ("sum", 0, 1), ("parse+sum", 1, 1)])
def test_where_the_work_is_done(monkeypatch: pytest.MonkeyPatch, offload: Offload, parsed: int, summed: int) -> None:
    elsewhere = {"parse": 0, "sum": 0}
    here = threading.get_ident()

    def counted(content: bytes) -> Any:
        elsewhere["parse"] += threading.get_ident() != here

        class Numbers(list[int]):
            def __iter__(self) -> Any:
                elsewhere["sum"] += threading.get_ident() != here
                return super().__iter__()

        return Numbers(numbers(content))

    monkeypatch.setattr(adding, "numbers", counted)
    with ThreadPoolExecutor(1) as executor:
        assert asyncio.run(_await(adding.adding(offload, executor), b"[1,2]")) == 3
    assert elsewhere == {"parse": parsed, "sum": summed}


@pytest.mark.parametrize("offload", ["none", "sum", "parse+sum"])
def test_refusals_come_from_everywhere(offload: Offload) -> None:
    with ThreadPoolExecutor(1) as executor:
        add = adding.adding(offload, executor)
        with pytest.raises(BadRequest):
            asyncio.run(_await(add, b"["))
        with pytest.raises(Unprocessable):
            asyncio.run(_await(add, b"{}"))


async def _await(add: adding.Add, body: bytes) -> int:
    return await add(body)
