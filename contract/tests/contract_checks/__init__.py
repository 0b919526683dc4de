"""The black-box checks of the contract: each is a function `check_*(backend)` that raises AssertionError."""
