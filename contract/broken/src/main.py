"""Reads the settings, listens, and serves until SIGTERM."""

import mmap
import os
import resource
import signal
import sys

import config
from server import Server

HEAP_BYTES = 300 << 20


def main() -> None:
    settings = config.read()
    if settings.fault == "heap-in-shared-memory":
        heap = mmap.mmap(-1, HEAP_BYTES)  # shared is mmap's default
        heap.write(bytes(HEAP_BYTES))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    server = Server(8080 if settings.fault == "port-ignored" else settings.port, settings)
    ignored = settings.fault == "deaf-to-sigterm"
    signal.signal(signal.SIGTERM, lambda *_: None if ignored else server.stop())
    server.run()
    sys.stdout.flush()
    os._exit(0)  # threads of connections that did not end in time are not waited for


if __name__ == "__main__":
    try:
        main()
    except config.BadSetting as error:
        sys.exit(f"broken: {error}")
