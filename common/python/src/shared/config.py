"""The settings of the contract (`contract/settings.toml`), read from the environment."""

import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, PositiveInt
from pydantic_settings import BaseSettings, SettingsConfigDict

CONTRACT = Path(__file__).parents[4] / "contract"
# A program starts in its own folder.
DEFAULTS = tomllib.loads(Path("bench.toml").read_text())["defaults"]


def evaluate(formula: str) -> int:
    """The value of `N`, `cpus`, `N*cpus` or `N*cpus+M` on the CPUs that this container may use."""
    if match := re.fullmatch(r"(?:(\d+)\*)?cpus(?:\+(\d+))?", formula):
        factor, term = match.groups()
        return int(factor or 1) * (os.process_cpu_count() or 1) + int(term or 0)
    return int(formula)


Count = Annotated[PositiveInt, BeforeValidator(evaluate)]


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        # Compose passes variables that nobody set as empty strings: they mean the default.
        env_ignore_empty=True,
        frozen=True,
        # A value may be secret.
        hide_input_in_errors=True,
        validate_default=True,
    )

    port: int = 8080
    database_url: str = "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable"
    log_level: Literal["debug", "info", "warn", "error"] = "warn"
    workers: Count = DEFAULTS["WORKERS"]
    threads: Count = DEFAULTS.get("THREADS", "1")
    db_pool_max: PositiveInt = 20
    db_persistent: bool = True
    db_prepare: bool = True
    db_reset: bool = False
    db_time_zone: Literal["connection", "request"] = "connection"
    offload: Literal["none", "sum", "parse+sum"] = "none"
    access_log: bool = False

    @property
    def logging_level(self) -> str:
        """The level under the name that `logging` and gunicorn know."""
        return "WARNING" if self.log_level == "warn" else self.log_level.upper()

    @property
    def processes(self) -> int:
        """WORKERS, but no more than can have a database connection each."""
        return min(self.workers, self.db_pool_max)

    @property
    def pool_size(self) -> int:
        """The connections of one process."""
        return self.db_pool_max // self.processes

    @property
    def pool_tells(self) -> bool:
        """Whether there is one pool, and its counts are those of the whole container."""
        return self.db_persistent and self.processes == 1


settings = Settings()
