INSERT INTO "timeline_event" ("recipe_id", "action", "created", "created_by_id", "deleted_at")
VALUES ($1, $2, STATEMENT_TIMESTAMP(), $3, $4)
RETURNING "timeline_event"."id", "timeline_event"."created"
