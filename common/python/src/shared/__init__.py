"""What the recipes application is in every framework, with every driver and in either concurrency model."""
