"""What changes when it runs for long?"""
