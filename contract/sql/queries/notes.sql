select
    note.id, note.text, note.created, note.modified,
    author.id as author_id, author.email as author_email, author.name as author_name,
    editor.id as editor_id, editor.email as editor_email, editor.name as editor_name
from core_note as note
inner join core_myuser as author on author.id = note.created_by_id
left join core_myuser as editor on editor.id = note.last_modified_by_id
where note.recipe_id = $1 and note.deleted_at is null
order by note.created, note.id
