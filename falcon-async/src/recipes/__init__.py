"""The recipes application on Falcon, a task for each request."""
