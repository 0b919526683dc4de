"""What does a setting do?"""
