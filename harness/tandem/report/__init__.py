"""What do people read? Tables, words, plots that several studies share."""
