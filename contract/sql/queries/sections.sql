select id, position, title
from core_section
where recipe_id = $1 and deleted_at is null
order by position collate "C", id
