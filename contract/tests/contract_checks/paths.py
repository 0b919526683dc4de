"""The paths of the contract: which scenario each belongs to, and what it allows."""

from dataclasses import dataclass

from contract_checks.backend import Backend, cookie
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, session

METHODS = ("GET", "POST", "PUT", "DELETE")
COOKIE = cookie(session(1))


@dataclass(frozen=True)
class Path:
    """A path that exists when one of its scenarios is served; without scenarios it always does."""

    path: str
    scenarios: tuple[str, ...]
    allow: tuple[str, ...] = ("GET",)


PATHS = (
    Path("/healthz", ()),
    *(Path(path, ("index", "idle")) for path in ("/", "/index.html", "/index.htm")),
    Path("/user/", ("users",), ("POST",)),
    Path("/users/", ("users",)),
    Path("/user/987654", ("users",), ("GET", "PUT", "DELETE")),
    Path("/work", ("work", "work-large"), ("POST",)),
    Path(RECIPES, ("recipes",)),
    Path(f"{RECIPES}/1", ("recipe",)),
    Path(f"{RECIPES}/1/notes", ("note-write",), ("POST",)),
    Path("/api/v1/dashboard", ("fan-out",)),
)


def served(backend: Backend) -> list[Path]:
    """The paths that the implementation has."""
    serves = backend.implementation.serves
    return [path for path in PATHS if not path.scenarios or any(map(serves, path.scenarios))]


def check_methods(backend: Backend) -> None:
    """A method that a path does not have is 405."""
    for path in served(backend):
        for method in METHODS:
            # POST to a user's own path may be a bad request instead.
            if method not in path.allow and (method, path.path) != ("POST", "/user/987654"):
                answer = backend.request(method, path.path, COOKIE)
                assert_error(answer, 405, what=f"{method} {path.path}")


def check_declared_scenarios(backend: Backend) -> None:
    """What bench.toml says is not served is not there: its paths are 404."""
    for path in set(PATHS) - set(served(backend)):
        for method in path.allow:
            what = f"{method} {path.path} of {path.scenarios}, which bench.toml declares unsupported"
            assert_error(backend.request(method, path.path, COOKIE), 404, what=what)


CHECKS = (check_methods, check_declared_scenarios)
