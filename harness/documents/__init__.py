"""Fills the figures of README.md and docs/ in from the committed records. Not part of the product: it reads studies' figures from harness/benchmarks as well."""
