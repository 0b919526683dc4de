"""How long until a fresh start answers, and answers at its full rate?"""
