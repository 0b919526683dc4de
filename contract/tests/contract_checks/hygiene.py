"""What the images and containers are, whatever they answer."""

from contract_checks.backend import Backend
from contract_checks.docker import docker

TOOLS = "gcc g++ cc c++ c99 clang rustc cargo go javac ld as make cmake ninja node-gyp"


def check_not_root(backend: Backend) -> None:
    """No process of the container belongs to root."""
    lines = docker("top", backend.container, "-eo", "uid,pid,args").splitlines()[1:]
    assert lines, "the container has no process"
    root = [line for line in lines if line.split()[0] == "0"]
    assert not root, f"these run as root: {root}"


def check_no_compilers(backend: Backend) -> None:
    """The image holds no compiler, linker or build tool."""
    command = f"for tool in {TOOLS}; do command -v $tool; done; true"
    options = ["--rm", "--network", "none", "--entrypoint", "sh"]
    found = docker("run", *options, backend.implementation.image, "-c", command).split()
    assert not found, f"the image holds build tools: {found}"


def check_labels(backend: Backend) -> None:
    """Everything of the stack carries the label by which it is cleaned up."""
    project = ("--quiet", "--filter", f"label=com.docker.compose.project={backend.stack.project}")
    for ask, least in ((("ps", "--all"), 4), (("network", "ls"), 1), (("volume", "ls"), 1)):
        mine = set(docker(*ask, *project).split())
        assert len(mine) >= least, f"docker {' '.join(ask)} shows only {mine}"
        # Every image inherits dev.tandem=base from a base image that ./bootstrap has made.
        bare = mine - set(docker(*ask, *project, "--filter", "label=dev.tandem=stack").split())
        assert not bare, f"without the label dev.tandem=stack: {bare}"


CHECKS = (check_not_root, check_no_compilers, check_labels)
