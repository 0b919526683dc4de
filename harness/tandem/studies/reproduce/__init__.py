"""What was published, made again: do its figures and its claims still hold?"""
