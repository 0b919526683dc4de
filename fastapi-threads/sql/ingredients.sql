SELECT core_ingredient.recipe_id, core_ingredient.id, core_ingredient.position, core_ingredient.quantity, core_ingredient.name,
    core_ingredient.description
FROM core_ingredient
WHERE core_ingredient.recipe_id IN ($1::INTEGER) AND core_ingredient.deleted_at IS NULL
ORDER BY core_ingredient.position COLLATE "C", core_ingredient.id
