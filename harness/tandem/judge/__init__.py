"""Does a window count, and what limited it?"""
