"""The contract's statements, which psycopg's raw cursors take as they are."""

from shared.config import CONTRACT

QUERIES = {file.stem: file.read_text() for file in (CONTRACT / "sql/queries").glob("*.sql")}
SET_TIME_ZONE = "SET TIME ZONE 'UTC'"
PARTS = ("ingredients", "steps", "sections", "notes", "reactions", "timeline_events")
DASHBOARD = ("recipes", "teams", "notes", "events")
