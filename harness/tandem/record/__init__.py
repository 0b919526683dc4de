"""What is kept?"""
