select
    id, name, author, source, time, servings, edits, created, modified, archived_at, tags, object_id, content_type_id
from core_recipe
where id = (
    select visible.id
    from (
        select own.id
        from core_recipe as own
        where own.content_type_id = 1 and own.object_id = $1 and own.deleted_at is null
        union all
        select shared.id
        from core_membership as member
        inner join core_recipe as shared on shared.content_type_id = 20 and shared.object_id = member.team_id
        where member.user_id = $1 and member.is_active and shared.deleted_at is null
    ) as visible
    order by random()
    limit 1
)
