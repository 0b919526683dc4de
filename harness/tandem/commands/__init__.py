"""The commands that a person types, beside those of the studies."""
