SELECT core_recipe.id
FROM core_recipe
WHERE core_recipe.id = $1::INTEGER AND core_recipe.deleted_at IS NULL AND (core_recipe.content_type_id = $2::INTEGER
    AND core_recipe.object_id = $3::INTEGER OR core_recipe.content_type_id = $4::INTEGER AND (EXISTS (SELECT core_membership.id
FROM core_membership
WHERE core_membership.user_id = $5::INTEGER AND core_membership.team_id = core_recipe.object_id AND core_membership.is_active)))
