select event.id, event.recipe_id, event.action, event.created
from core_recipe as recipe
inner join timeline_event as event on event.recipe_id = recipe.id
where recipe.content_type_id = 1 and recipe.object_id = $1 and recipe.deleted_at is null and event.deleted_at is null
order by event.created desc, event.id desc
limit 5
