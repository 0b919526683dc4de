"""The repository's sources, by git."""

import subprocess
from pathlib import Path


def git(root: Path, *arguments: str) -> str | None:
    """Output of a git command; None where it fails, as without a repository."""
    command = ["git", "-c", "safe.directory=*", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def has_changes(root: Path) -> bool | None:
    """Whether the sources differ from those of the commit; None without git. Results are none of them."""
    changes = git(root, "status", "--porcelain", "--", ".", ":(exclude)results")
    return None if changes is None else bool(changes)
