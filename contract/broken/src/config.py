"""The environment, read once and checked."""

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from faults import FAULTS

DATABASE_URL = "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable"
LENIENT = os.environ.get("FAULT") == "bad-settings-ignored"


class BadSetting(Exception):
    """A variable that cannot be honoured; the message names it."""


@dataclass(frozen=True)
class Config:
    port: int
    database_url: str
    workers: int
    threads: int
    pool_max: int
    persistent: bool
    prepare: bool
    reset: bool
    time_zone: str
    offload: str
    access_log: bool
    fault: str


def read() -> Config:
    """Returns the settings, or raises BadSetting."""
    _choice("LOG_LEVEL", "warn", ("debug", "info", "warn", "error"))
    return Config(
        port=_number("PORT", 8080, 65535),
        database_url=_url("DATABASE_URL", DATABASE_URL),
        workers=_number("WORKERS", 1, 64),
        threads=_number("THREADS", 256, 10_000),
        pool_max=_number("DB_POOL_MAX", 20, 10_000),
        persistent=_choice("DB_PERSISTENT", "1", ("0", "1")) == "1",
        prepare=_choice("DB_PREPARE", "1", ("0", "1")) == "1",
        reset=_choice("DB_RESET", "0", ("0", "1")) == "1",
        time_zone=_choice("DB_TIME_ZONE", "connection", ("connection", "request")),
        offload=_choice("OFFLOAD", "none", ("none", "sum", "parse+sum")),
        access_log=_choice("ACCESS_LOG", "0", ("0", "1")) == "1",
        fault=_choice("FAULT", "", ("", *FAULTS)),
    )


def _text(name: str, default: str) -> str:
    return os.environ.get(name, "") or default


def _choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    value = _text(name, default)
    if value not in allowed:
        if LENIENT:
            return default
        raise BadSetting(f"{name}={value!r}: must be one of {', '.join(filter(None, allowed))}")
    return value


def _number(name: str, default: int, most: int) -> int:
    value = _text(name, str(default))
    if value.isascii() and value.isdigit() and 1 <= int(value) <= most:
        return int(value)
    if LENIENT:
        return default
    raise BadSetting(f"{name}={value!r}: must be an integer from 1 to {most}")


def _url(name: str, default: str) -> str:
    value = _text(name, default)
    if LENIENT and urlsplit(value).scheme != "postgresql":
        return default
    if urlsplit(value).scheme != "postgresql":
        raise BadSetting(f"{name} must be a postgresql:// URL")
    return value
