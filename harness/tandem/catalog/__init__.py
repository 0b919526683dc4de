"""What is there to measure, and what is a right answer?"""
