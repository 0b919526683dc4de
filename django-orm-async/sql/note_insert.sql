INSERT INTO "core_note" ("recipe_id", "text", "created", "modified", "created_by_id", "last_modified_by_id",
    "deleted_at")
VALUES ($1, $2, STATEMENT_TIMESTAMP(), STATEMENT_TIMESTAMP(), $3, $4, $5)
RETURNING "core_note"."id", "core_note"."created", "core_note"."modified"
