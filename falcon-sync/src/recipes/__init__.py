"""The recipes application on Falcon, a thread for each request."""
