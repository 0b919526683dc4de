"""What the recipes application on Falcon and psycopg is, whatever its concurrency model."""
