"""The nested test lab itself: its hosts have engines of their own, are apart from this one, and leave nothing behind."""

from pathlib import Path

import pytest
from harness_nested import CGROUPS, LABEL, SSH_CONFIG, NestedLab, nested, run

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]


def left() -> dict[str, str | list[str]]:
    """What of such hosts there is on this machine."""
    return {
        "containers": run("docker", "ps", "--all", "--quiet", "--filter", f"label={LABEL}"),
        "networks": run("docker", "network", "ls", "--quiet", "--filter", f"label={LABEL}"),
        "volumes": run("docker", "volume", "ls", "--quiet", "--filter", f"label={LABEL}"),
        "groups": sorted(
            str(g) for place in (CGROUPS, *CGROUPS.iterdir()) for g in place.glob("tandem-lab-*")
        ),
        "settings": sorted(str(file) for file in SSH_CONFIG.glob("tandem-lab-*")),
    }


def ssh(lab: NestedLab, host: str, *command: str) -> str:
    """As the product calls it: nobody is there who could answer a question."""
    options = ("-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", "ConnectTimeout=5")
    return run("ssh", *options, f"tandem@{lab.hosts[host].address}", *command)


def test_hosts_have_engines_of_their_own_and_leave_nothing(tmp_path: Path) -> None:
    before = left()
    with nested(tmp_path, "one", "two") as lab:
        one, two = lab.hosts.values()
        during = left()
        assert all(during[kind] != before[kind] for kind in ("containers", "networks", "volumes", "settings"))
        ids = {host.sh("docker info --format '{{.ID}}'") for host in (one, two)}
        assert len({*ids, run("docker", "info", "--format", "{{.ID}}")}) == 3

        one.load("debian:trixie-slim")
        greet = f"exec 3<>/dev/tcp/{two.address}/22 && head -n 1 <&3"
        said = one.sh(f"docker run --rm debian:trixie-slim bash -c '{greet}'")
        assert said.startswith("SSH-2.0"), "a container of one host reaches the other"
        assert two.sh("docker images --quiet") == ""

        # Keys are checked, both ways.
        assert ssh(lab, "one", "docker", "version", "--format", "{{.Server.Version}}")
        known = lab.folder / "known_hosts"
        mine, other = known.read_text().splitlines()
        known.write_text(f"{mine.split()[0]} {other.split(maxsplit=1)[1]}\n")
        with pytest.raises(AssertionError, match="Host key verification failed"):
            ssh(lab, "one", "true")
        known.write_text(f"{mine}\n{other}\n")
        one.sh("echo > /home/tandem/.ssh/authorized_keys")
        with pytest.raises(AssertionError, match="Permission denied"):
            ssh(lab, "one", "true")

        two.freeze()  # it is removed all the same
    assert left() == before
