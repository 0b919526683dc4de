"""The recipes application on Falcon and asyncpg."""
