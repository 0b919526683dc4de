"""The recipes application on FastAPI with `def` handlers, SQLAlchemy's ORM and psycopg."""
