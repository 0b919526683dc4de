"""What people who work on Tandem run: its tests and formatters. No part of the product, which needs no pytest."""
