"""What does a request cost, how fast is the application where it is the limit, and how near does it come to what waiting allows?"""
