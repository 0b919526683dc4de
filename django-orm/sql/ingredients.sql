SELECT "core_ingredient"."id", "core_ingredient"."recipe_id", "core_ingredient"."position",
    "core_ingredient"."quantity", "core_ingredient"."name", "core_ingredient"."description",
    "core_ingredient"."deleted_at"
FROM "core_ingredient"
WHERE ("core_ingredient"."deleted_at" IS NULL AND "core_ingredient"."recipe_id" IN ($1))
ORDER BY "core_ingredient"."position" COLLATE "C" ASC, "core_ingredient"."id" ASC
