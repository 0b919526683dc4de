select id, position, quantity, name, description
from core_ingredient
where recipe_id = $1 and deleted_at is null
order by position collate "C", id
