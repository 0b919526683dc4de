"""The proof that the harness tells the truth: checks with known answers, each seen failing on purpose."""
