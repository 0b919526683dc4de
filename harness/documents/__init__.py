"""Fills the figures of README.md and docs/ in from the committed records. Not part of the product, and knows no study."""
