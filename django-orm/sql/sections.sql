SELECT "core_section"."id", "core_section"."recipe_id", "core_section"."title", "core_section"."position",
    "core_section"."deleted_at"
FROM "core_section"
WHERE ("core_section"."deleted_at" IS NULL AND "core_section"."recipe_id" IN ($1))
ORDER BY "core_section"."position" COLLATE "C" ASC, "core_section"."id" ASC
