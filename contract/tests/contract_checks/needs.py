"""Ties a check to what it is about: a setting, scenarios, a concurrency model, a pool that tells."""

from collections.abc import Callable

from contract_checks.catalog import Implementation


def _mark[Check: Callable[..., None]](what: str, value: object) -> Callable[[Check], Check]:
    def mark(check: Check) -> Check:
        setattr(check, what, value)
        return check

    return mark


def needs[Check: Callable[..., None]](*settings: str) -> Callable[[Check], Check]:
    """Marks a check as one of these settings: it is skipped where bench.toml says one is unsupported."""
    return _mark("settings", settings)


def for_scenario[Check: Callable[..., None]](*scenarios: str) -> Callable[[Check], Check]:
    """Marks a check as one of these scenarios: it is skipped where bench.toml says one is unsupported."""
    return _mark("scenarios", scenarios)


def for_model[Check: Callable[..., None]](model: str) -> Callable[[Check], Check]:
    """Marks a check as one of the model `sync` or `async`."""
    return _mark("model", model)


def where_pool_tells[Check: Callable[..., None]](check: Check) -> Check:
    """Marks a check as one of `GET /pool`: it is skipped unless bench.toml says `pool_tells`."""
    return _mark("pool_tells", True)(check)


def name_of(check: Callable[..., None]) -> str:
    """The name by which bench.toml knows a check."""
    return check.__name__.removeprefix("check_")


def file_of(check: Callable[..., None]) -> str:
    """The file of this folder that has the check."""
    return check.__module__.rpartition(".")[2]


def unsupported(check: Callable[..., None], implementation: Implementation) -> str | None:
    """Why the check cannot be asked of the implementation by its own bench.toml; None when it can."""
    reasons = {"settings": implementation.settings, "scenarios": implementation.scenarios}
    for what, given in reasons.items():
        for name in getattr(check, what, ()):
            if name in given:
                return f"{name}: {given[name]}"
    if getattr(check, "pool_tells", False) and not implementation.pool_tells:
        return "bench.toml does not say pool_tells"
    return None


def other_model(check: Callable[..., None], implementation: Implementation) -> str | None:
    """Why the check is none of the implementation's model; None when it is, or when it is for both."""
    model = getattr(check, "model", implementation.model)
    return None if model == implementation.model else f"for {model} models only"
