SELECT core_recipe.id, core_recipe.name, core_recipe.author, core_recipe.source, core_recipe.time, core_recipe.servings,
    core_recipe.edits, core_recipe.created, core_recipe.modified, core_recipe.archived_at, core_recipe.tags,
    core_recipe.object_id, core_recipe.content_type_id
FROM core_recipe
WHERE core_recipe.id = (SELECT anon_1.id
FROM (SELECT core_recipe.id AS id
FROM core_recipe
WHERE core_recipe.content_type_id = $1::INTEGER AND core_recipe.object_id = $2::INTEGER AND core_recipe.deleted_at IS NULL
UNION ALL SELECT core_recipe.id AS id
FROM core_recipe JOIN core_membership ON core_recipe.content_type_id = $3::INTEGER
    AND core_recipe.object_id = core_membership.team_id
WHERE core_membership.user_id = $4::INTEGER AND core_membership.is_active AND core_recipe.deleted_at IS NULL) AS anon_1
ORDER BY random()
LIMIT $5::INTEGER)
