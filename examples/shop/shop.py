"""A shop that shows what is in a cart, and what products would cost now."""

import sqlite3
from threading import local
from time import time

from cart import lines
from flask import Flask, Response, abort, jsonify, request

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


@app.post("/quote")
def quote() -> Response:
    cents = dict(data().execute("select id, cents from product"))
    total = sum(cents[int(product)] * number for product, number in request.get_json().items())
    return jsonify(at=time(), total_cents=total)
