SELECT core_section.recipe_id, core_section.id, core_section.position, core_section.title
FROM core_section
WHERE core_section.recipe_id IN ($1::INTEGER) AND core_section.deleted_at IS NULL
ORDER BY core_section.position COLLATE "C", core_section.id
