SELECT "core_reaction"."id", "core_reaction"."note_id", "core_reaction"."emoji", "core_reaction"."created_by_id",
    "core_reaction"."created"
FROM "core_reaction"
WHERE "core_reaction"."note_id" IN ($1)
ORDER BY "core_reaction"."created" ASC, "core_reaction"."id" ASC
