"""The recipes application on Falcon and psycopg, a thread for each request."""
