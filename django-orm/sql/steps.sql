SELECT "core_step"."id", "core_step"."recipe_id", "core_step"."position", "core_step"."text", "core_step"."deleted_at"
FROM "core_step"
WHERE ("core_step"."deleted_at" IS NULL AND "core_step"."recipe_id" IN ($1))
ORDER BY "core_step"."position" COLLATE "C" ASC, "core_step"."id" ASC
