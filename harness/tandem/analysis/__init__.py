"""What follows from repeated figures?"""
