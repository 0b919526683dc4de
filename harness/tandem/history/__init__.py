"""The nights so far: what each measured, and whether anything changed."""
