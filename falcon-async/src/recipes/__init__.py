"""The recipes application on Falcon and psycopg, a task for each request."""
