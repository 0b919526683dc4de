"""What did earlier nights measure, and did anything change?"""
