"""Docker's command line: that of this machine's engine, and of one on another host, which has to answer within a while."""

from typing import Any, Final

from python_on_whales import DockerClient, DockerException

ANSWERS_S: Final = 300
"""An engine on another host may hang while its SSH connection lives, and no command of Docker's gives up by itself. Copying a
window's rows home takes longest."""
GAVE_UP: Final = 124
"""The exit status of `timeout` where it had to end the command."""
FULL_DISK: Final = "no space left on device"
REMEDIES: Final = {
    FULL_DISK: "The disk of Docker's engine is full. `docker system df` says what takes its space; `just clean` removes"
    " untagged images of earlier builds of this project.",
    "Requested CPUs are not available": "The placement names CPUs that the engine may not use. Name CPUs that are available in"
    " a file of your own beside compose/placements/two-cores.env and give its name with --placement; --placement shared"
    " names none.",
}
"""Part of an engine's message -> what to do about it."""


def docker_client(url: str | None, lasts_s: float = 0.0, **options: Any) -> DockerClient:
    """The client of an engine. url: of one on another host; None: this machine's, of which nothing is limited. lasts_s: what
    its command does takes so long by itself. options: further ones of DockerClient."""
    if url is None:
        return DockerClient(**options)
    # --foreground: an interruption reaches Docker's command, as it does without a limit.
    limited = ["timeout", "--foreground", f"{ANSWERS_S + lasts_s:.0f}", "docker"]
    return DockerClient(host=url, client_call=limited, **options)


def complaint(error: DockerException) -> str:
    """The reason of an error, for people; and what to do about it, where that is known."""
    if error.return_code == GAVE_UP:
        return "its Docker engine has stopped answering, but its SSH connection is still open"
    return with_remedy(((error.stderr or "") + (error.stdout or "")).strip() or str(error))


def with_remedy(said: str) -> str:
    """What an engine said, and what to do about it, where that is known."""
    return "\n".join([said, *(remedy for part, remedy in REMEDIES.items() if part in said)])
