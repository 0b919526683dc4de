SELECT core_note.recipe_id, core_note.id, core_note.text, core_note.created, core_note.modified, core_note.created_by_id,
    core_note.last_modified_by_id, core_myuser_1.id, core_myuser_1.email, core_myuser_1.name, core_myuser_2.id,
    core_myuser_2.email, core_myuser_2.name
FROM core_note JOIN core_myuser AS core_myuser_1 ON core_myuser_1.id = core_note.created_by_id
    LEFT OUTER JOIN core_myuser AS core_myuser_2 ON core_myuser_2.id = core_note.last_modified_by_id
WHERE core_note.recipe_id IN ($1::INTEGER) AND core_note.deleted_at IS NULL
ORDER BY core_note.created, core_note.id
