select id, name, modified
from core_recipe
where content_type_id = 1 and object_id = $1 and deleted_at is null
order by modified desc, id desc
limit 5
