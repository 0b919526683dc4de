-- The reference for every body: the canonical JSON of each recipe, written by PostgreSQL itself and
-- by none of the programs under test. Yields (id, body); run it inside a database in the seeded state.
-- The setting tandem.recipes, an array of ids, limits it to those.
create or replace function pg_temp.j(value text) returns text immutable language sql
as $$ select coalesce(to_json(value)::text, 'null') $$;
create or replace function pg_temp.t(value timestamptz) returns text stable language sql
as $$ select coalesce('"' || to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '"', 'null') $$;
create or replace function pg_temp.person(u core_myuser) returns text immutable language sql
as $$ select case when (u).id is null then 'null' else '{"id":' || (u).id || ',"email":' || pg_temp.j((u).email) || ',"name":' || pg_temp.j((u).name) || '}' end $$;

select
    r.id,
    '{"id":' || r.id || ',"name":' || pg_temp.j(r.name) || ',"author":' || pg_temp.j(r.author)
    || ',"source":' || pg_temp.j(r.source) || ',"time":' || pg_temp.j(r.time) || ',"servings":' || pg_temp.j(r.servings)
    || ',"edits":' || r.edits || ',"created":' || pg_temp.t(r.created) || ',"modified":' || pg_temp.t(r.modified)
    || ',"archived_at":' || pg_temp.t(r.archived_at)
    || ',"tags":[' || array_to_string(array(select pg_temp.j(tag) from unnest(r.tags) with ordinality as x (tag, i) order by i), ',')
    || '],"owner":{"kind":"' || case r.content_type_id when 1 then 'user' else 'team' end || '","id":' || r.object_id
    || '},"ingredients":[' || array_to_string(array(
        select '{"kind":"ingredient","id":' || i.id || ',"position":' || pg_temp.j(i.position) || ',"quantity":' || pg_temp.j(i.quantity)
            || ',"name":' || pg_temp.j(i.name) || ',"description":' || pg_temp.j(i.description) || '}'
        from core_ingredient as i where i.recipe_id = r.id and i.deleted_at is null order by i.position collate "C", i.id
    ) || array(
        select '{"kind":"section","id":' || s.id || ',"position":' || pg_temp.j(s.position) || ',"title":' || pg_temp.j(s.title) || '}'
        from core_section as s where s.recipe_id = r.id and s.deleted_at is null order by s.position collate "C", s.id
    ), ',')
    || '],"steps":[' || array_to_string(array(
        select '{"id":' || s.id || ',"position":' || pg_temp.j(s.position) || ',"text":' || pg_temp.j(s.text) || '}'
        from core_step as s where s.recipe_id = r.id and s.deleted_at is null order by s.position collate "C", s.id
    ), ',')
    || '],"timeline":[' || array_to_string(array(
        select '{"kind":"note","id":' || n.id || ',"text":' || pg_temp.j(n.text) || ',"created":' || pg_temp.t(n.created)
            || ',"modified":' || pg_temp.t(n.modified) || ',"created_by":' || pg_temp.person(a) || ',"last_modified_by":' || pg_temp.person(e)
            || ',"reactions":[' || array_to_string(array(
                select '{"id":' || x.id || ',"emoji":' || pg_temp.j(x.emoji) || ',"created_by_id":' || x.created_by_id || ',"created":' || pg_temp.t(x.created) || '}'
                from core_reaction as x where x.note_id = n.id order by x.created, x.id
            ), ',') || ']}'
        from core_note as n
        inner join core_myuser as a on a.id = n.created_by_id
        left join core_myuser as e on e.id = n.last_modified_by_id
        where n.recipe_id = r.id and n.deleted_at is null order by n.created, n.id
    ) || array(
        select '{"kind":"event","id":' || v.id || ',"action":' || pg_temp.j(v.action) || ',"created_by_id":' || coalesce(v.created_by_id::text, 'null')
            || ',"created":' || pg_temp.t(v.created) || '}'
        from timeline_event as v where v.recipe_id = r.id and v.deleted_at is null order by v.created desc, v.id desc
    ), ',') || ']}' as body
from core_recipe as r
where coalesce(r.id = any(current_setting('tandem.recipes', true)::integer []), true)
order by r.id;

select
    u.id,
    '{"user_id":' || u.id || ',"recipes":[' || array_to_string(array(
        select '{"id":' || r.id || ',"name":' || pg_temp.j(r.name) || ',"modified":' || pg_temp.t(r.modified) || '}'
        from core_recipe as r where r.content_type_id = 1 and r.object_id = u.id and r.deleted_at is null
        order by r.modified desc, r.id desc limit 5
    ), ',')
    || '],"teams":[' || array_to_string(array(
        select '{"id":' || t.id || ',"name":' || pg_temp.j(t.name) || ',"members":'
            || (select count(*) from core_membership as m where m.team_id = t.id and m.is_active) || '}'
        from core_team as t where t.id in (select m.team_id from core_membership as m where m.user_id = u.id and m.is_active)
        order by t.id
    ), ',')
    || '],"notes":[' || array_to_string(array(
        select '{"id":' || n.id || ',"recipe_id":' || n.recipe_id || ',"text":' || pg_temp.j(n.text) || ',"created":' || pg_temp.t(n.created) || '}'
        from core_note as n
        where n.deleted_at is null and n.recipe_id in (select r.id from core_recipe as r where r.content_type_id = 1 and r.object_id = u.id and r.deleted_at is null)
        order by n.created desc, n.id desc limit 5
    ), ',')
    || '],"events":[' || array_to_string(array(
        select '{"id":' || v.id || ',"recipe_id":' || v.recipe_id || ',"action":' || pg_temp.j(v.action) || ',"created":' || pg_temp.t(v.created) || '}'
        from timeline_event as v
        where v.deleted_at is null and v.recipe_id in (select r.id from core_recipe as r where r.content_type_id = 1 and r.object_id = u.id and r.deleted_at is null)
        order by v.created desc, v.id desc limit 5
    ), ',') || ']}' as body
from core_myuser as u
where u.id <= 40
order by u.id;
