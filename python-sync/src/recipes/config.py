"""The settings of the contract, read from the environment, and the Django settings that follow from them."""

import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import psycopg
from django.db.backends.postgresql.base import ServerBindingCursor
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format
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
Switch = Annotated[bool, BeforeValidator(switch)]

A_COUNT = "a number from 1, or a formula such as cpus or 2*cpus+1"
A_SWITCH = "0 or 1"


class Environment(BaseSettings):
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
    threads: Count = Field(BEST.get("THREADS", "1"), description=A_COUNT)
    db_pool_max: PositiveInt = Field(20, description="a number from 1")
    db_persistent: Switch = Field("1", validate_default=True, description=A_SWITCH)
    db_prepare: Switch = Field("1", validate_default=True, description=A_SWITCH)
    db_reset: Switch = Field("0", validate_default=True, description=A_SWITCH)
    db_time_zone: Literal["connection", "request"] = Field("connection", description="connection or request")
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

    @property
    def pool_tells(self) -> bool:
        """Whether there is one pool, and its counts are those of the whole container."""
        return self.db_persistent and self.processes == 1


def load() -> Environment:
    """Ends the process with one line per bad variable and exit code 2. The value is not repeated: it may be secret."""
    try:
        return Environment()
    except ValidationError as error:
        for problem in error.errors():
            name = str(problem["loc"][0])
            print(f"{name.upper()} must be {Environment.model_fields[name].description}", file=sys.stderr)
        sys.exit(2)


def discard_all(connection: psycopg.Connection) -> None:
    connection.execute("DISCARD ALL", prepare=False)


env = load()

# What follows is Django's. https://docs.djangoproject.com/en/6.1/ref/settings/
# No apps, sessions, templates or secret key: nothing here would use them.
ROOT_URLCONF = "recipes.routes"
MIDDLEWARE = ["recipes.middleware.ApiMiddleware"]
# Nothing builds a URL from the Host header.
ALLOWED_HOSTS = ["*"]
USE_I18N = False
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY
TIME_ZONE = "UTC"

ACQUIRE_TIMEOUT_S = 1.5
STATEMENT_TIMEOUT_S = 2.0


class BoundedConnection(psycopg.Connection):
    """psycopg waits for an answer as long as it takes, unless this method is told otherwise."""

    def wait[T](self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = STATEMENT_TIMEOUT_S) -> T:
        return super().wait(gen, interval, timeout)


class BinaryCursor(ServerBindingCursor):
    """Results in PostgreSQL's binary format, which psycopg reads in C. Moments as text go through a loader of Django's.

    https://www.psycopg.org/psycopg3/docs/basic/params.html#binary-parameters-and-results
    """

    def __init__(self, connection: psycopg.Connection, **options: Any) -> None:
        super().__init__(connection, **options)  # type: ignore[call-arg]
        self.format = Format.BINARY


# https://www.psycopg.org/psycopg3/docs/api/pool.html#the-connectionpool-class
POOL = {
    # As many at the start as at the most: no request waits for a login.
    "min_size": env.pool_size,
    "max_size": env.pool_size,
    "timeout": ACQUIRE_TIMEOUT_S,
    "connection_class": BoundedConnection,
    # Gives up a lost place soon, so that the next request tries again at once when the database is back.
    "reconnect_timeout": 1,
    "reset": discard_all if env.db_reset else None,
}

server: dict[str, Any] = conninfo_to_dict(str(env.database_url))
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": server.pop("dbname"),
        "OPTIONS": {
            **server,
            # https://www.postgresql.org/docs/17/libpq-connect.html#LIBPQ-PARAMKEYWORDS; 2 s is the least.
            "connect_timeout": 2,
            "tcp_user_timeout": 2000,
            "options": "-c statement_timeout=2000",
            "pool": POOL if env.db_persistent else False,
            # Parameters travel beside the text, which is what lets a statement be prepared.
            "server_side_binding": True,
            "cursor_factory": BinaryCursor,
            "prepare_threshold": 0 if env.db_prepare else None,
        },
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.logging_level.upper()},
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        # A client's mistake is no warning about this service.
        "django.request": {"level": "ERROR"},
    },
}
