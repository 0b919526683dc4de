"""How much does each implementation do? (bench, replay)"""
