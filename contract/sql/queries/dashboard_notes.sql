select note.id, note.recipe_id, note.text, note.created
from core_recipe as recipe
inner join core_note as note on note.recipe_id = recipe.id
where recipe.content_type_id = 1 and recipe.object_id = $1 and recipe.deleted_at is null and note.deleted_at is null
order by note.created desc, note.id desc
limit 5
