"""The table of users in memory; each check has a container of its own, whose table is empty."""

import re

from contract_checks.backend import Answer, Backend, at_once
from contract_checks.errors import assert_answer, assert_error
from contract_checks.needs import for_scenario

AT_ONCE = 300
CLIENTS = 24


def assert_text(answer: Answer, body: str, what: str) -> None:
    """Fails unless the answer is 200 with this text."""
    assert_answer(answer, 200, body, "text/plain", what)


def _create(backend: Backend) -> int:
    answer = backend.request("POST", "/user/")
    text = answer.body.decode("ascii", "replace")
    assert re.fullmatch("0|[1-9][0-9]*", text), f"POST /user/: expected an id, got {answer}"
    assert_text(answer, text, "POST /user/")
    return int(text)


def _assert_list(backend: Backend, ids: list[int]) -> None:
    assert_text(backend.get("/users/"), ",".join(map(str, ids)), "GET /users/")


@for_scenario("users")
def check_users(backend: Backend) -> None:
    """A user's life: made, read, replaced, removed; the list says the same all the time."""
    with backend.variant() as fresh:
        _assert_list(fresh, [])
        assert [_create(fresh) for _ in range(12)] == list(range(12)), "ids do not count up from 0"
        _assert_list(fresh, list(range(12)))
        answer = fresh.request("POST", "/user/", content=b"a body that nobody looks at")
        assert_text(answer, "12", "POST /user/ with a body")
        assert_text(fresh.get("/user/3"), "{}", "GET /user/3")
        for method, content in (("PUT", b""), ("PUT", b'{"name":"x"}'), ("DELETE", b"")):
            answer = fresh.request(method, "/user/3", content=content)
            assert (answer.status, answer.body) == (200, b""), f"{method} /user/3: {answer}"
        for method in ("GET", "PUT", "DELETE"):
            assert_error(fresh.request(method, "/user/3"), 404, what=f"{method} /user/3 after DELETE")
        left = [key for key in range(13) if key != 3]
        _assert_list(fresh, left)
        again = _create(fresh)
        assert again not in left, f"the id {again} was given twice"
        _assert_list(fresh, sorted([*left, again]))


@for_scenario("users")
def check_users_at_once(backend: Backend) -> None:
    """Users that are made at once all have ids of their own and are all there; so are those removed gone."""
    with backend.variant() as fresh:
        ids = sorted(at_once(lambda _: _create(fresh), range(AT_ONCE), CLIENTS))
        told = f"{AT_ONCE} users at once have only {len(set(ids))} ids: {ids[:20]}"
        assert ids == list(range(AT_ONCE)), told
        _assert_list(fresh, ids)

        def remove(key: int) -> None:
            # Half of the clients remove what the other half reads and replaces.
            methods = ("GET", "PUT", "DELETE", "GET")
            statuses = [fresh.request(method, f"/user/{key}").status for method in methods]
            assert statuses == [200, 200, 200, 404], f"{methods} of /user/{key}: {statuses}"

        at_once(remove, ids[::2], CLIENTS)
        _assert_list(fresh, ids[1::2])


CHECKS = (check_users, check_users_at_once)
