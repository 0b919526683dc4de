"""The recipes application on Starlette with `def` handlers, and psycopg."""
