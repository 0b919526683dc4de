"""The settings of the contract, read from the environment."""

import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PositiveInt, PostgresDsn, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

HERE = Path(__file__).parents[2]
CONTRACT = HERE.parent / "contract"
QUERIES = CONTRACT / "sql/queries"
INDEX = (CONTRACT / "golden/index.html").read_bytes()
MAX_BODY = 1_048_576
BEST = tomllib.loads((HERE / "bench.toml").read_text())["defaults"]


def evaluate(formula: str) -> int:
    """The value of `N`, `cpus`, `N*cpus` or `N*cpus+M` on the CPUs that this container may use."""
    if match := re.fullmatch(r"(?:(\d+)\*)?cpus(?:\+(\d+))?", formula):
        factor, term = match.groups()
        return int(factor or 1) * (os.process_cpu_count() or 1) + int(term or 0)
    return int(formula)


def switch(value: str) -> bool:
    """Only 0 and 1: pydantic's own booleans would take `yes` as well."""
    if value not in ("0", "1"):
        raise ValueError("neither 0 nor 1")
    return value == "1"


Count = Annotated[PositiveInt, BeforeValidator(evaluate)]
Offload = Literal["none", "sum", "parse+sum"]
Switch = Annotated[bool, BeforeValidator(switch)]

A_COUNT = "a number from 1, or a formula such as cpus or 2*cpus+1"
A_SWITCH = "0 or 1"


class Settings(BaseSettings):
    """A field's description says which values are allowed; `load` shows it for a bad one."""

    # Compose passes variables that nobody set as empty strings: they mean the default.
    model_config = SettingsConfigDict(env_ignore_empty=True, frozen=True)

    port: int = Field(8080, ge=1, le=65535, description="a number from 1 to 65535")
    database_url: PostgresDsn = Field(
        "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable",
        validate_default=True,
        description="a URL such as postgresql://user:password@host:5432/database?sslmode=disable",
    )
    log_level: Literal["debug", "info", "warn", "error"] = Field("warn", description="debug, info, warn or error")
    workers: Count = Field(BEST["WORKERS"], description=A_COUNT)
    threads: Count = Field(BEST["THREADS"], description=A_COUNT)
    db_pool_max: PositiveInt = Field(20, description="a number from 1")
    db_persistent: Switch = Field("1", validate_default=True, description=A_SWITCH)
    db_prepare: Switch = Field("1", validate_default=True, description=A_SWITCH)
    db_reset: Switch = Field("0", validate_default=True, description=A_SWITCH)
    db_time_zone: Literal["connection", "request"] = Field("connection", description="connection or request")
    offload: Offload = Field("none", description="none, sum or parse+sum")
    access_log: Switch = Field("0", validate_default=True, description=A_SWITCH)

    @property
    def logging_level(self) -> str:
        """The level under the name that `logging` and gunicorn know."""
        return "warning" if self.log_level == "warn" else self.log_level

    @property
    def processes(self) -> int:
        """The workers that are started: none without a connection, as DB_POOL_MAX is a limit."""
        return min(self.workers, self.db_pool_max)

    @property
    def pool_size(self) -> int:
        """The connections of one worker: its part of DB_POOL_MAX."""
        return self.db_pool_max // self.processes


def load() -> Settings:
    """Ends the process with one line per bad variable and exit code 2. The value is not repeated: it may be secret."""
    try:
        return Settings()
    except ValidationError as error:
        for problem in error.errors():
            name = str(problem["loc"][0])
            print(f"{name.upper()} must be {Settings.model_fields[name].description}", file=sys.stderr)
        sys.exit(2)


settings = load()
