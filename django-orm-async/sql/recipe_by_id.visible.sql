SELECT $1 AS "a"
FROM "core_recipe"
WHERE ((("core_recipe"."content_type_id" = $2 AND "core_recipe"."object_id" = $3) OR ("core_recipe"."content_type_id" =
    $4 AND "core_recipe"."object_id" IN (SELECT "U0"."team_id" AS "team_id"
FROM "core_membership" "U0"
WHERE ("U0"."is_active" AND "U0"."user_id" = $5)))) AND "core_recipe"."deleted_at" IS NULL AND "core_recipe"."id" = $6)
    LIMIT $7
