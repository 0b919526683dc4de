"""Tables, words and plots that several studies share."""
