import asyncio
from typing import Any
from unittest.mock import Mock

import pytest

from recipes import adding


@pytest.mark.parametrize(("offload", "moved"), [("none", None), ("sum", sum), ("parse+sum", adding.parse_and_sum)])
def test_what_leaves_the_event_loop(monkeypatch: pytest.MonkeyPatch, offload: str, moved: Any) -> None:
    monkeypatch.setattr(adding, "settings", Mock(offload=offload))
    submit = Mock(wraps=adding.executor.submit)
    monkeypatch.setattr(adding.executor, "submit", submit)
    assert asyncio.run(adding.add(b"[1,2]")) == 3
    assert [call.args[0] for call in submit.call_args_list] == ([moved] if moved else [])
