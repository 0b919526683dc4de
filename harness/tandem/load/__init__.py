"""Who asks, and what does it say of its own load?"""
