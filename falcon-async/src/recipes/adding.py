"""The work of the scenario `work`, on the event loop or partly in a pool of threads, as OFFLOAD says."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor

from shared.config import Offload
from shared.inputs import numbers

type Add = Callable[[bytes], Awaitable[int]]


def adding(offload: Offload, executor: Executor) -> Add:
    """What adds the numbers of a body; raises BadRequest or Unprocessable where it is awaited."""

    async def here(body: bytes) -> int:
        return parse_and_sum(body)

    async def sum_elsewhere(body: bytes) -> int:
        return await asyncio.get_running_loop().run_in_executor(executor, sum, numbers(body))

    async def all_elsewhere(body: bytes) -> int:
        return await asyncio.get_running_loop().run_in_executor(executor, parse_and_sum, body)

    return {"none": here, "sum": sum_elsewhere, "parse+sum": all_elsewhere}[offload]


def parse_and_sum(body: bytes) -> int:
    return sum(numbers(body))
