SELECT "core_recipe"."id", "core_recipe"."name", "core_recipe"."author", "core_recipe"."source", "core_recipe"."time",
    "core_recipe"."servings", "core_recipe"."edits", "core_recipe"."created", "core_recipe"."modified",
    "core_recipe"."archived_at", "core_recipe"."deleted_at", "core_recipe"."tags", "core_recipe"."object_id",
    "core_recipe"."content_type_id"
FROM "core_recipe"
WHERE ((("core_recipe"."content_type_id" = $1 AND "core_recipe"."object_id" = $2) OR ("core_recipe"."content_type_id" =
    $3 AND "core_recipe"."object_id" IN (SELECT "U0"."team_id" AS "team_id"
FROM "core_membership" "U0"
WHERE ("U0"."is_active" AND "U0"."user_id" = $4)))) AND "core_recipe"."deleted_at" IS NULL)
ORDER BY RANDOM() ASC LIMIT $5
