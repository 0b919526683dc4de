"""What do several sessions say together?"""
