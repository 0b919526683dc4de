select id, position, text
from core_step
where recipe_id = $1 and deleted_at is null
order by position collate "C", id
