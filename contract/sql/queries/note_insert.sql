insert into core_note (recipe_id, text, created, modified, created_by_id)
select recipe.id, $3, now(), now(), $1
from core_recipe as recipe
where
    recipe.id = $2 and recipe.deleted_at is null
    and (
        (recipe.content_type_id = 1 and recipe.object_id = $1)
        or (
            recipe.content_type_id = 20
            and exists (
                select 1 from core_membership as member
                where member.user_id = $1 and member.team_id = recipe.object_id and member.is_active
            )
        )
    )
returning id
