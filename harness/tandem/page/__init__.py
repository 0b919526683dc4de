"""What does the site of the results show? Records in, files out."""
