select
    id, name, author, source, time, servings, edits, created, modified, archived_at, tags, object_id, content_type_id
from core_recipe
where
    id = $2 and deleted_at is null
    and (
        (content_type_id = 1 and object_id = $1)
        or (
            content_type_id = 20
            and exists (
                select 1 from core_membership as member
                where member.user_id = $1 and member.team_id = core_recipe.object_id and member.is_active
            )
        )
    )
