"""How long does each way of counting lines of files take?"""
