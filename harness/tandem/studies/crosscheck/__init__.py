"""Does a second load generator say the same?"""
