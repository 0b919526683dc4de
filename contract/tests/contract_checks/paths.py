"""The paths of the contract: which scenario each belongs to, and what it allows."""

from dataclasses import dataclass

from contract_checks.backend import Backend
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, session

READ = ("GET", "HEAD")
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE")
COOKIE = [(b"cookie", b"sessionid=" + session(1).encode())]


@dataclass(frozen=True)
class Path:
    """A path that exists when one of its scenarios is served; without scenarios it always does."""

    path: str
    scenarios: tuple[str, ...]
    allow: tuple[str, ...] = READ
    refused: tuple[str, ...] = ()  # methods with an answer of their own, which is neither 405 nor success


PATHS = (
    Path("/healthz", ()),
    *(Path(path, ("index", "idle")) for path in ("/", "/index.html", "/index.htm")),
    *(Path(path, ("users",), ("POST",)) for path in ("/user/", "/user")),
    *(Path(path, ("users",)) for path in ("/users/", "/users")),
    *(
        Path(path, ("users",), (*READ, "PUT", "DELETE"), ("POST",))
        for path in ("/user/987654", "/user/987654/")
    ),
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
    """Any method that a path does not have is 405 with the header that names those it has."""
    for path in served(backend):
        for method in METHODS:
            if method in (*path.allow, *path.refused):
                continue
            for headers in ([], COOKIE):
                what = f"{method} {path.path}"
                answer = backend.request(method, path.path, headers)
                if method == "HEAD":
                    assert answer.status == 405, f"{what}: {answer}"
                else:
                    assert_error(answer, 405, what=what)
                allow = sorted(word.strip() for word in answer.headers.get("allow", "").split(","))
                expected = sorted(path.allow)
                assert allow == expected, f"{what}: Allow is {answer.headers.get('allow')!r}, not {expected}"
    assert_error(backend.request("POST", "/nothing"), 404, what="POST /nothing")


def check_declared_scenarios(backend: Backend) -> None:
    """What bench.toml says is not served is not there: its paths are 404 whatever the method."""
    for path in set(PATHS) - set(served(backend)):
        for method in (*path.allow, *path.refused, "PATCH"):
            answer = backend.request(method, path.path, COOKIE)
            what = f"{method} {path.path} of {path.scenarios}, which bench.toml declares unsupported"
            if method == "HEAD":
                assert answer.status == 404, f"{what}: {answer}"
            else:
                assert_error(answer, 404, what=what)


CHECKS = (check_methods, check_declared_scenarios)
