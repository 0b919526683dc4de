"""What rate does it hold, and what happens beyond it?"""
