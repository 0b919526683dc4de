select id, action, created_by_id, created
from timeline_event
where recipe_id = $1 and deleted_at is null
order by created desc, id desc
