INSERT INTO core_note (recipe_id, text, created, modified, created_by_id, last_modified_by_id, deleted_at)
VALUES ($1::INTEGER, $2::VARCHAR, now(), now(), $3::INTEGER, $4::INTEGER, $5::TIMESTAMP WITH TIME ZONE)
RETURNING core_note.id, core_note.created, core_note.modified
