"""The lines of a cart: a query for the lines, and one for each product (N+1)."""

from psycopg import Connection

LINES = "select product, number from line where cart = %s order by place"
PRODUCT = "select name, cents from product where id = %s"


def lines(data: Connection, cart: int) -> list[dict]:
    found = []
    for product, number in data.execute(LINES, [cart]).fetchall():
        name, cents = data.execute(PRODUCT, [product]).fetchone()
        found.append({"name": name, "cents": cents, "number": number})
    return found
