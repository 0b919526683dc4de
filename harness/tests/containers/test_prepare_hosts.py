"""harness/labs/prepare.yml by Ansible, on a host that is a container: what it does, and that it does it once."""

import re
from collections.abc import Iterator

import pytest
from harness_nested import LABEL, NestedLab, nested, run
from harness_places import ROOT

pytestmark = [pytest.mark.docker, pytest.mark.weekly, pytest.mark.timeout(900)]

IMAGE = "tandem/test-ansible"
ROLES = ["db", "pgbouncer", "app", "proxy", "loadgen"]


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NestedLab]:
    command = [
        *("docker", "buildx", "build", "--quiet", "--label", "dev.tandem.built=test-ansible", "--tag"),
        IMAGE,
    ]
    run(*command, "--file", ROOT / "harness/tests/labs/ansible.Dockerfile", ROOT)
    with nested(tmp_path_factory.mktemp("lab"), "one") as found:
        yield found


def playbook(lab: NestedLab, *arguments: str) -> str:
    """What it says. Raises AssertionError, with that, where it fails."""
    file = lab.write("mine", {"one": ROLES})
    command = ["docker", "create", "--network", "host", "--label", LABEL, "--workdir", "/lab"]
    for name, value in {
        "ANSIBLE_PRIVATE_KEY_FILE": "/lab/key",
        "ANSIBLE_SSH_COMMON_ARGS": "-o UserKnownHostsFile=/lab/known_hosts",
        "ANSIBLE_NOCOLOR": "1",
    }.items():
        command += ["--env", f"{name}={value}"]
    container = run(*command, IMAGE, "ansible-playbook", "prepare.yml", *arguments)
    try:
        for each in (file, lab.folder / "key", lab.folder / "known_hosts", ROOT / "harness/labs/prepare.yml"):
            run("docker", "cp", each, f"{container}:/lab/{each.name}")
        return run("docker", "start", "--attach", container)
    finally:
        run("docker", "rm", "--force", container)


def changed(said: str) -> int:
    """Of the host, by Ansible's own recap."""
    recap = re.search(r"^one +: ok=\d+ +changed=(\d+) +unreachable=0 +failed=0", said, re.MULTILINE)
    assert recap, said
    return int(recap[1])


def test_it_is_valid(hosts: NestedLab) -> None:
    assert "playbook: prepare.yml" in playbook(hosts, "--syntax-check")


def test_a_user_may_use_the_engine_after_it_and_a_second_run_changes_nothing(hosts: NestedLab) -> None:
    one = hosts.hosts["one"]
    one.sh("gpasswd --delete tandem docker")
    assert changed(playbook(hosts, "--extra-vars", "lab=mine.toml")) == 1
    assert "docker" in one.sh("id --name --groups tandem").split()
    assert changed(playbook(hosts, "--extra-vars", "lab=mine.toml")) == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("lab=mine.toml least_version=99.0", "is too old: at least 99.0 is needed"),
        ("least_version=20.10", "Which lab\\? Say it with -e lab="),
    ],
)
def test_what_is_wrong_is_told(hosts: NestedLab, arguments: str, told: str) -> None:
    with pytest.raises(AssertionError) as said:
        playbook(hosts, "--extra-vars", arguments)
    assert re.search(told, str(said.value))
