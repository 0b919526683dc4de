"""A shop that shows what is in a cart, and what products would cost now."""

import os
from threading import local
from time import time

from cart import lines
from flask import Flask, Response, abort, jsonify, request
from psycopg import Connection, connect

app = Flask(__name__)
own = local()


def data() -> Connection:
    """This thread's connection: threads that share one wait for each other."""
    if not hasattr(own, "data") or own.data.closed:
        own.data = connect(os.environ["DATABASE_URL"], autocommit=True)
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
    cents = dict(data().execute("select id, cents from product").fetchall())
    total = sum(cents[int(product)] * number for product, number in request.get_json().items())
    return jsonify(at=time(), total_cents=total)
