"""The recipes application on Starlette and asyncpg."""
