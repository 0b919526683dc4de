"""Makes the shop's data, the same each time: 50 carts of 25 lines, 500 products."""

import sqlite3

CARTS, LINES, PRODUCTS = 50, 25, 500

with sqlite3.connect("shop.db") as made:
    made.execute("create table product (id integer primary key, name text, cents integer)")
    made.execute("create table line (cart integer, place integer, product integer, number integer)")
    made.execute("create index line_cart on line (cart)")
    products = [(number, f"Product {number}", 100 + number * 7 % 900) for number in range(PRODUCTS)]
    made.executemany("insert into product values (?, ?, ?)", products)
    carts = ((cart, place) for cart in range(CARTS) for place in range(LINES))
    lines = [(cart, place, (cart * 31 + place * 17) % PRODUCTS, 1 + place % 3) for cart, place in carts]
    made.executemany("insert into line values (?, ?, ?, ?)", lines)
