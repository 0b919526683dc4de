"""The work of the scenario `work`, on the event loop or partly in a pool of threads, as OFFLOAD says."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from shared.config import settings
from shared.inputs import numbers

# It starts its threads when there is work for them.
executor = ThreadPoolExecutor(settings.threads)


async def add(body: bytes) -> int:
    """The sum of a body's numbers; raises BadRequest or Unprocessable."""
    loop = asyncio.get_running_loop()
    match settings.offload:
        case "sum":
            return await loop.run_in_executor(executor, sum, numbers(body))
        case "parse+sum":
            return await loop.run_in_executor(executor, parse_and_sum, body)
        case _:
            return parse_and_sum(body)


def parse_and_sum(body: bytes) -> int:
    return sum(numbers(body))
