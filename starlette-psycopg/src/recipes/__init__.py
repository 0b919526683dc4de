"""The recipes application on Starlette and psycopg."""
