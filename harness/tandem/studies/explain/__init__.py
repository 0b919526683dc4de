"""Why is one variant ahead of another: what does each setting contribute, and what is left to the programs?"""
