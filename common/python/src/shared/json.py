"""JSON as the contract has it."""

from typing import Any

import orjson


def encode(content: Any) -> bytes:
    """Times are written in UTC with `Z`, in whole seconds."""
    return orjson.dumps(content, option=orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS)
