"""Every body is golden: by id, at random, and at once from many clients."""

import json

from contract_checks import golden
from contract_checks.backend import Backend, at_once
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, USERS, assert_golden, neighbour, owned, session, shared, visible
from contract_checks.needs import for_scenario

# The first and last block, both sides of a pair of neighbours, and some between.
PEOPLE = (1, 2, 7, 18, 39, 40)


@for_scenario("recipe")
def check_golden_bodies(backend: Backend) -> None:
    """Every third recipe, by its user or one of its team."""

    def asked(key: int) -> None:
        user = golden.viewer(key)
        if key in shared(user) and key % 2:
            user = neighbour(user)
        assert_golden(backend.get(f"{RECIPES}/{key}", session(user)), key)

    third = [key for key in list(golden.table())[::3] if key % 25]
    at_once(asked, [*golden.bodies(), *third], clients=4)


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
        for key in (*hidden, len(golden.table()) + 1, 2**31 - 1):
            answer = backend.get(f"{RECIPES}/{key}", session(user))
            assert_error(answer, 404, what=f"user {user} asks for recipe {key}")


@for_scenario("recipes")
def check_random(backend: Backend) -> None:
    """60 random recipes: all golden, all visible, many different, of the user and of both teams."""
    for user in (1, 8):
        served = {_random(backend, user) for _ in range(60)}
        assert len(served) >= 10, f"60 random recipes of user {user} are only {sorted(served)}"
        for keys in (owned(user), shared(user), shared(neighbour(user))):
            assert served & {*keys}, f"none of 60 random recipes of user {user} is one of {keys}"


@for_scenario("recipe", "recipes")
def check_concurrent(backend: Backend) -> None:
    """24 clients at once, each a different user: nobody gets half a body or somebody else's."""

    def client(user: int) -> None:
        for key in visible(user)[::10]:
            assert_golden(backend.get(f"{RECIPES}/{key}", session(user)), key)
            _random(backend, user)

    at_once(client, range(1, 25), clients=24)


def _random(backend: Backend, user: int) -> int:
    """The id of a random recipe, which has to be golden and one that the user may see."""
    answer = backend.get(RECIPES, session(user))
    assert answer.status == 200, f"a random recipe of user {user}: {answer}"
    key = json.loads(answer.body).get("id")
    assert key in visible(user), (
        f"user {user} was shown a recipe of others, or one without a known id: {answer}"
    )
    assert_golden(answer, key)
    return int(key)


CHECKS = (check_golden_bodies, check_invisible, check_random, check_concurrent)
