"""Which is better, and by how much?"""
