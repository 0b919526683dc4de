"""Tests and formatters for people who work on Tandem. No part of the product, which needs no pytest."""
