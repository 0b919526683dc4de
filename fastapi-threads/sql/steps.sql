SELECT core_step.recipe_id, core_step.id, core_step.position, core_step.text
FROM core_step
WHERE core_step.recipe_id IN ($1::INTEGER) AND core_step.deleted_at IS NULL
ORDER BY core_step.position COLLATE "C", core_step.id
