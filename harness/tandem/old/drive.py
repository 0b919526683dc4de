"""Runs the load generator in its container and brings its files home."""

from pathlib import Path

from tandem.lab.stack import Stack
from tandem.load import generator
from tandem.load.client import BODY_FILE


def send(
    stack: Stack, folder: Path, name: str, load: generator.Load, by: generator.Generator, body: bytes | None
) -> None:
    """Gives the generator's container what a load reads. name: of its files. Raises TandemError."""
    if body is not None:
        (folder / "body").write_bytes(body)
        stack.copy_in("loadgen", folder / "body", BODY_FILE)
    for suffix, text in by.inputs(load, name).items():
        file = folder / f"{name}.{suffix}"
        file.write_text(text)
        stack.copy_in("loadgen", file, f"{generator.FOLDER}/{file.name}")


def run_load(stack: Stack, folder: Path, name: str, load: generator.Load, by: generator.Generator) -> float:
    """Runs a load to its end, after `send`; returns when it began (time.time()). name: of the files that it leaves in
    `folder`, one for each load that runs at the same time. Raises TandemError."""
    left = [f"{name}.{suffix}" for suffix in by.suffixes]
    script = f'cd {generator.FOLDER} && rm -f {" ".join(left)}; date +%s.%N; exec "$@"'
    said = stack.execute("loadgen", ["sh", "-c", script, "sh", *by.arguments(load, name)])
    for file_name in left:
        stack.copy_out("loadgen", f"{generator.FOLDER}/{file_name}", folder / file_name)
    return float(said.split()[0])
