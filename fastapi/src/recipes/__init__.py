"""The recipes application on FastAPI, SQLAlchemy's ORM and asyncpg."""
