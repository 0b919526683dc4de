select reaction.id, reaction.note_id, reaction.emoji, reaction.created_by_id, reaction.created
from core_reaction as reaction
inner join core_note as note on note.id = reaction.note_id
where note.recipe_id = $1 and note.deleted_at is null
order by reaction.created, reaction.id
