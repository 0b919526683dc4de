SELECT core_recipe.id, core_recipe.name, core_recipe.author, core_recipe.source, core_recipe.time, core_recipe.servings,
    core_recipe.edits, core_recipe.created, core_recipe.modified, core_recipe.archived_at, core_recipe.tags,
    core_recipe.object_id, core_recipe.content_type_id
FROM core_recipe
WHERE core_recipe.id = $1::INTEGER AND core_recipe.deleted_at IS NULL AND (core_recipe.content_type_id = $2::INTEGER
    AND core_recipe.object_id = $3::INTEGER OR core_recipe.content_type_id = $4::INTEGER AND (EXISTS (SELECT core_membership.id
FROM core_membership
WHERE core_membership.user_id = $5::INTEGER AND core_membership.team_id = core_recipe.object_id AND core_membership.is_active)))
