"""The contract's statements and its page."""

from shared.config import CONTRACT

INDEX = (CONTRACT / "golden/index.html").read_bytes()
QUERIES = {file.stem: file.read_text() for file in (CONTRACT / "sql/queries").glob("*.sql")}
SET_TIME_ZONE = "SET TIME ZONE 'UTC'"
PARTS = ("ingredients", "steps", "sections", "notes", "reactions", "timeline_events")
DASHBOARD = ("recipes", "teams", "notes", "events")
