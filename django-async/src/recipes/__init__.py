"""The recipes application on Django under ASGI, with SQL."""
