select user_id from user_sessions_session where session_key = :key and expire_date > now() \gset
select
    id, name, author, source, time, servings, edits, created, modified, archived_at, tags, object_id, content_type_id
from core_recipe
where id = (
    select visible.id
    from (
        select own.id
        from core_recipe as own
        where own.content_type_id = 1 and own.object_id = :user_id and own.deleted_at is null
        union all
        select shared.id
        from core_membership as member
        inner join core_recipe as shared on shared.content_type_id = 20 and shared.object_id = member.team_id
        where member.user_id = :user_id and member.is_active and shared.deleted_at is null
    ) as visible
    order by random()
    limit 1
) \gset
select id, position, quantity, name, description
from core_ingredient
where recipe_id = :id and deleted_at is null
order by position collate "C", id;
select id, position, text
from core_step
where recipe_id = :id and deleted_at is null
order by position collate "C", id;
select id, position, title
from core_section
where recipe_id = :id and deleted_at is null
order by position collate "C", id;
select
    note.id, note.text, note.created, note.modified,
    author.id as author_id, author.email as author_email, author.name as author_name,
    editor.id as editor_id, editor.email as editor_email, editor.name as editor_name
from core_note as note
inner join core_myuser as author on author.id = note.created_by_id
left join core_myuser as editor on editor.id = note.last_modified_by_id
where note.recipe_id = :id and note.deleted_at is null
order by note.created, note.id;
select reaction.id, reaction.note_id, reaction.emoji, reaction.created_by_id, reaction.created
from core_reaction as reaction
inner join core_note as note on note.id = reaction.note_id
where note.recipe_id = :id and note.deleted_at is null
order by reaction.created, reaction.id;
select id, action, created_by_id, created
from timeline_event
where recipe_id = :id and deleted_at is null
order by created desc, id desc;
