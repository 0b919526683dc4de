"""Every body is golden: by id, at random, and at once from many clients."""

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from contract_checks.backend import Backend
from contract_checks.errors import assert_error
from contract_checks.golden import (
    RECIPES,
    USERS,
    assert_golden,
    bodies,
    neighbour,
    owned,
    session,
    shared,
    table,
    viewer,
    visible,
)
from contract_checks.needs import for_scenario

# The first and last block, both sides of a pair of neighbours, and some between.
AT_ONCE = 4
PEOPLE = (1, 2, 7, 18, 39, 40)


@for_scenario("recipe")
def check_golden_bodies(backend: Backend) -> None:
    """Every third recipe, by its user or one of its team."""
    for key in bodies():
        assert_golden(backend.get(f"{RECIPES}/{key}", session(viewer(key))), key)

    def asked(key: int) -> None:
        user = viewer(key)
        if key in shared(user) and key % 2:
            user = neighbour(user)
        assert_golden(backend.get(f"{RECIPES}/{key}", session(user)), key)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        _all(pool.map(asked, (key for key in list(table())[::3] if key % 25)))


@for_scenario("recipe")
def check_invisible(backend: Backend) -> None:
    """What is deleted, does not exist or belongs to others is not found."""
    for user in PEOPLE:
        former = user % USERS + 1
        stranger = (user + 6) % USERS + 1
        deleted = [owned(user)[24], shared(user)[24]]
        hidden = [*deleted, owned(neighbour(user))[0], owned(stranger)[0], shared(stranger)[0]]
        if user % 2 == 0 and former != neighbour(user):
            hidden.append(shared(former)[0])  # the membership is there, but not active
        for key in (*hidden, len(table()) + 1, 2**31 - 1):
            answer = backend.get(f"{RECIPES}/{key}", session(user))
            assert_error(answer, 404, what=f"user {user} asks for recipe {key}")


@for_scenario("recipes")
def check_random(backend: Backend) -> None:
    """60 random recipes: all golden, all visible, many different, of the user and of both teams."""
    for user in (1, 8):
        served = [_random(backend, user) for _ in range(60)]
        foreign = set(served) - set(visible(user))
        assert not foreign, f"user {user} was shown recipes of others: {sorted(foreign)}"
        assert len(set(served)) >= 10, f"60 random recipes of user {user} are only {sorted(set(served))}"
        for owner, keys in (
            (f"user {user}", owned(user)),
            (f"team {user}", shared(user)),
            (f"team {neighbour(user)}", shared(neighbour(user))),
        ):
            assert set(served) & set(keys), f"none of 60 random recipes of user {user} belongs to {owner}"


@for_scenario("recipe", "recipes")
def check_concurrent(backend: Backend) -> None:
    """24 clients at once, each a different user: nobody gets half a body or somebody else's."""

    def client(user: int) -> None:
        for key in visible(user)[::10]:
            assert_golden(backend.get(f"{RECIPES}/{key}", session(user)), key)
            assert _random(backend, user) in visible(user), f"user {user} was shown a recipe of others"

    with ThreadPoolExecutor(24) as pool:
        _all(pool.map(client, range(1, 25)))


def _random(backend: Backend, user: int) -> int:
    answer = backend.get(RECIPES, session(user))
    assert answer.status == 200, f"a random recipe of user {user}: {answer}"
    key = json.loads(answer.body).get("id")
    assert key in table(), f"a random recipe of user {user} has no known id: {answer}"
    assert_golden(answer, key)
    return int(key)


def _all(results: Iterable[None]) -> None:
    """Raises the first failure among results that are still being computed."""
    for _ in results:
        pass


CHECKS = (check_golden_bodies, check_invisible, check_random, check_concurrent)
