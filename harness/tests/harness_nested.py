"""A lab within this machine: each host is a container with a Docker engine and an SSH server of its own (tests/labs)."""

import os
import subprocess
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness_places import ROOT

IMAGE = "tandem/test-host"
LABEL = "dev.tandem=test-lab"
CGROUPS = Path("/sys/fs/cgroup")
READY_S, FREEZE_TRIES = 60, 5
SMALL = "900m"
"""Of a disk: an image or two."""
AHEAD_S = 0.3
"""Of a clock that nobody set."""
SSH_CONFIG = Path("/etc/ssh/ssh_config.d")
"""Tests run in the harness's container, whose SSH client is nobody else's."""


def run(*command: str | Path, text: str | None = None) -> str:
    """What a command prints. Raises AssertionError, with what it complained of, where it fails."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


@dataclass(frozen=True)
class NestedHost:
    name: str
    container: str
    address: str

    @property
    def engine(self) -> str:
        """As a lab file has it."""
        return f"ssh://tandem@{self.address}"

    def sh(self, script: str) -> str:
        """What a shell on the host prints. Raises AssertionError where it fails."""
        return run("docker", "exec", self.container, "sh", "-ec", script)

    def load(self, image: str) -> None:
        """Brings an image of this machine's engine to the host's, through neither SSH nor a registry."""
        with subprocess.Popen(("docker", "save", image), stdout=subprocess.PIPE) as saved:
            command = ("docker", "exec", "-i", self.container, "docker", "load", "--quiet")
            done = subprocess.run(command, stdin=saved.stdout, capture_output=True, text=True, check=False)
        assert saved.returncode == 0, image
        assert done.returncode == 0, done.stderr

    def kill(self) -> None:
        """As if its power failed."""
        run("docker", "kill", self.container)

    def freeze(self) -> None:
        """From now on nothing on it runs: connections hang and none is refused. Docker gives up soon where many processes
        are about to be stopped, so it is asked more than once."""
        for _ in range(FREEZE_TRIES - 1):
            asked = ("docker", "pause", self.container)
            if subprocess.run(asked, capture_output=True, check=False).returncode == 0:
                return
            time.sleep(1)
        run("docker", "pause", self.container)

    def thaw(self) -> None:
        run("docker", "unpause", self.container)


@dataclass(frozen=True)
class NestedLab:
    folder: Path
    """With the key, `known_hosts` and lab files."""
    hosts: dict[str, NestedHost] = field(default_factory=dict)

    def write(
        self, name: str, roles: dict[str, list[str]], cpus: dict[str, dict[str, str]] | None = None
    ) -> Path:
        """A lab file of these hosts. roles: host -> its roles. cpus: host -> role -> CPU set."""
        text = []
        for host, its in roles.items():
            own = ", ".join(f'{role} = "{at}"' for role, at in (cpus or {}).get(host, {}).items())
            text += [f"[hosts.{host}]", f'engine = "{self.hosts[host].engine}"', f"cpus = {{{own}}}"]
            text += [f'address = "{self.hosts[host].address}"', f"roles = {its}"]
        file = self.folder / f"{name}.toml"
        file.write_text("\n".join(text) + "\n")
        return file


def build() -> None:
    """The image of such a host; a second where it is there."""
    command = ["docker", "buildx", "build", "--quiet", "--label", "dev.tandem.built=test-host"]
    run(*command, "--tag", IMAGE, "--file", ROOT / "harness/tests/labs/Dockerfile", ROOT)


def start(name: str, network: str, key: str, small: bool, ahead: bool) -> NestedHost:
    """A host that has begun to start. small: its engine's disk is. ahead: its containers' wall clock is, by AHEAD_S."""
    full = f"{network}-{name}"
    command = ["docker", "run", "--detach", "--name", full, "--hostname", name, "--network", network]
    command += ["--label", LABEL, "--cap-add", "ALL", "--cap-drop", "SYS_RESOURCE"]
    command += ["--security-opt", "seccomp=unconfined", "--security-opt", "systempaths=unconfined"]
    command += ["--security-opt", "apparmor=unconfined"]
    command += ["--cgroupns", "host", "--volume", f"{CGROUPS}:{CGROUPS}"]
    disk = f"type=tmpfs,tmpfs-size={SMALL}" if small else f"type=volume,volume-label={LABEL}"
    command += ["--mount", f"{disk},dst=/var/lib/docker"]
    command += ["--env", f"AUTHORIZED_KEY={key}", "--env", f"CGROUP=/{full}"]
    command += ["--env", f"AHEAD_S={AHEAD_S}"] if ahead else []
    container = run(*command, IMAGE)
    what = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
    return NestedHost(name, container, run("docker", "inspect", "--format", what, container))


def await_ready(host: NestedHost) -> None:
    """Returns when its engine and its SSH server answer. Raises AssertionError, with its log, where it does not."""
    deadline = time.monotonic() + READY_S
    while True:
        with suppress(AssertionError):
            host.sh("docker version >/dev/null && bash -c ': </dev/tcp/127.0.0.1/22'")
            return
        log = subprocess.run(("docker", "logs", host.container), capture_output=True, text=True, check=False)
        assert time.monotonic() < deadline, log.stdout + log.stderr
        time.sleep(0.2)


def remove(network: str, hosts: list[NestedHost]) -> None:
    """Hosts, their volumes, their network, and the control groups that their engines made."""
    if hosts:
        run("docker", "rm", "--force", "--volumes", *(host.container for host in hosts))
    run("docker", "network", "rm", network)
    script = f"find {CGROUPS} -depth -type d -path '*/{network}-*' -exec rmdir {{}} + 2>/dev/null; true"
    host = ("--cgroupns", "host", "--volume", f"{CGROUPS}:{CGROUPS}")
    run("docker", "run", "--rm", *host, "--entrypoint", "sh", IMAGE, "-c", script)


@contextmanager
def nested(
    folder: Path, *names: str, small: Collection[str] = (), ahead: Collection[str] = ()
) -> Iterator[NestedLab]:
    """Hosts of those names, with fresh keys that the SSH client of this container uses for them, and for nothing else.
    small: those whose engine has a small disk. ahead: those whose clock is."""
    build()
    network = f"tandem-lab-{os.getpid()}-{time.time_ns() % 1_000_000}"
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", network, "-f", folder / "key")
    run("docker", "network", "create", "--label", LABEL, network)
    hosts: list[NestedHost] = []
    config = SSH_CONFIG / f"{network}.conf"
    try:
        key = (folder / "key.pub").read_text().strip()
        # One by one: those before one that fails are removed.
        hosts.extend(start(name, network, key, name in small, name in ahead) for name in names)
        for host in hosts:
            await_ready(host)
        keys = [f"{host.address} {host.sh('cat /etc/ssh/ssh_host_ed25519_key.pub')}\n" for host in hosts]
        (folder / "known_hosts").write_text("".join(keys))
        lines = [f"Host {' '.join(host.address for host in hosts)}", f"IdentityFile {folder / 'key'}"]
        lines += [f"UserKnownHostsFile {folder / 'known_hosts'}", "IdentitiesOnly yes"]
        SSH_CONFIG.mkdir(parents=True, exist_ok=True)
        config.write_text("\n".join(lines) + "\n")
        yield NestedLab(folder, {host.name: host for host in hosts})
    finally:
        config.unlink(missing_ok=True)
        remove(network, hosts)
