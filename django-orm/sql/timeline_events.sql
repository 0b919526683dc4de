SELECT "timeline_event"."id", "timeline_event"."recipe_id", "timeline_event"."action", "timeline_event"."created",
    "timeline_event"."created_by_id", "timeline_event"."deleted_at"
FROM "timeline_event"
WHERE ("timeline_event"."deleted_at" IS NULL AND "timeline_event"."recipe_id" IN ($1))
ORDER BY "timeline_event"."created" DESC, "timeline_event"."id" DESC
