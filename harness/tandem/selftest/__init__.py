"""The proof that the harness tells the truth: what is known beforehand, measured with the shipped code."""
