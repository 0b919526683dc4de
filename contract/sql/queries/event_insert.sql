insert into timeline_event (recipe_id, action, created, created_by_id)
values ($2, 'note added', now(), $1)
