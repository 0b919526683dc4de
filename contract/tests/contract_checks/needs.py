"""Ties a check to what it is about: a setting, scenarios, a concurrency model, a pool that tells."""

from collections.abc import Callable
from typing import TypeVar

from contract_checks.catalog import Implementation

Function = TypeVar("Function", bound=Callable[..., None])


def needs(*settings: str) -> Callable[[Function], Function]:
    """Marks a check as one of these settings: it is skipped where bench.toml says one is unsupported."""
    return _mark("settings", settings)


def for_scenario(*scenarios: str) -> Callable[[Function], Function]:
    """Marks a check as one of these scenarios: it is skipped where bench.toml says one is unsupported."""
    return _mark("scenarios", scenarios)


def where_pool_tells[Check: Callable[..., None]](check: Check) -> Check:
    """Marks a check as one of `GET /pool`: it is skipped unless bench.toml says `pool_tells`."""
    return _mark("pool_tells", True)(check)


def for_model(model: str) -> Callable[[Function], Function]:
    """Marks a check as one of the model `sync` or `async`."""
    return _mark("model", model)


def _mark(what: str, value: object) -> Callable[[Function], Function]:
    def mark(check: Function) -> Function:
        setattr(check, what, value)
        return check

    return mark


def name_of(check: Callable[..., None]) -> str:
    """The name by which bench.toml knows a check, also one with some arguments given (`partial`)."""
    return str(getattr(check, "func", check).__name__).removeprefix("check_")


def file_of(check: Callable[..., None]) -> str:
    """The file of this folder that has the check."""
    return str(getattr(check, "func", check).__module__).rpartition(".")[2]


def unsupported(check: Callable[..., None], implementation: Implementation) -> str | None:
    """Why the check cannot be asked of the implementation by its own bench.toml; None when it can."""
    check = getattr(check, "func", check)
    for names, reasons in (
        (getattr(check, "settings", ()), implementation.settings),
        (getattr(check, "scenarios", ()), implementation.scenarios),
    ):
        for name in names:
            if name in reasons:
                return f"{name}: {reasons[name]}"
    if getattr(check, "pool_tells", False) and not implementation.pool_tells:
        return "bench.toml does not say pool_tells"
    return None


def other_model(check: Callable[..., None], implementation: Implementation) -> str | None:
    """Why the check is none of the implementation's model; None when it is, or when it is for both."""
    model = getattr(getattr(check, "func", check), "model", implementation.model)
    return None if model == implementation.model else f"for {model} models only"
