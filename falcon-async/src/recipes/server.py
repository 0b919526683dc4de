"""Granian with an event loop that runs the requests."""

from granian.constants import Interfaces, Loops

from shared.server import serve

if __name__ == "__main__":
    serve(Interfaces.ASGI, loop=Loops.uvloop)
