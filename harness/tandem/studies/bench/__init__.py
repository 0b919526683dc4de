"""How much does each implementation do, and what does it cost?"""
