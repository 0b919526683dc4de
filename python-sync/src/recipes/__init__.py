"""The recipes application on Django and psycopg."""
