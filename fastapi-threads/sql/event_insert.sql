INSERT INTO timeline_event (recipe_id, action, created, created_by_id, deleted_at)
VALUES ($1::INTEGER, $2::VARCHAR, now(), $3::INTEGER, $4::TIMESTAMP WITH TIME ZONE)
RETURNING timeline_event.id, timeline_event.created
