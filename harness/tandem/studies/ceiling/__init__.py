"""What could the parts around an application do?"""
