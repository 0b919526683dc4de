"""The recipes application on Django and its ORM."""
