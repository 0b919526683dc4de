SELECT timeline_event.recipe_id, timeline_event.id, timeline_event.action, timeline_event.created, timeline_event.created_by_id
FROM timeline_event
WHERE timeline_event.recipe_id IN ($1::INTEGER) AND timeline_event.deleted_at IS NULL
ORDER BY timeline_event.created DESC, timeline_event.id DESC
