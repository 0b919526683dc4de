"""Granian with threads that run the requests."""

from granian.constants import Interfaces

from shared.config import settings
from shared.server import serve

if __name__ == "__main__":
    serve(Interfaces.WSGI, blocking_threads=settings.threads)
