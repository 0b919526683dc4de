"""Reads the counters of the host, of containers and of the stack's services."""
