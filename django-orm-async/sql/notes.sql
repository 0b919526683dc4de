SELECT "core_note"."id", "core_note"."recipe_id", "core_note"."text", "core_note"."created", "core_note"."modified",
    "core_note"."created_by_id", "core_note"."last_modified_by_id", "core_note"."deleted_at", "core_myuser"."id",
    "core_myuser"."email", "core_myuser"."name", "T4"."id", "T4"."email", "T4"."name"
FROM "core_note"
INNER JOIN "core_myuser" ON ("core_note"."created_by_id" = "core_myuser"."id")
LEFT OUTER JOIN "core_myuser" "T4" ON ("core_note"."last_modified_by_id" = "T4"."id")
WHERE ("core_note"."deleted_at" IS NULL AND "core_note"."recipe_id" IN ($1))
ORDER BY "core_note"."created" ASC, "core_note"."id" ASC
