"""The recipes application on Django, with SQL."""
