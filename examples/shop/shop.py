"""A shop with one page: what is in a cart."""

import sqlite3
from threading import local

from cart import lines
from flask import Flask, Response, abort, jsonify

app = Flask(__name__)
own = local()


def data() -> sqlite3.Connection:
    """This thread's connection: threads that share one get each other's rows."""
    if not hasattr(own, "data"):
        own.data = sqlite3.connect("file:shop.db?immutable=1", uri=True)
    return own.data


@app.get("/cart/<int:cart>")
def show(cart: int) -> Response:
    found = lines(data(), cart)
    if not found:
        abort(404)
    total = sum(line["cents"] * line["number"] for line in found)
    return jsonify(cart=cart, lines=found, total_cents=total)
