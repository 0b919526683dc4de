"""What may be concluded from numbers that others published? Readers make rows of their files, rules hold each row to arithmetic."""
