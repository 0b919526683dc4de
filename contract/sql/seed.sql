-- Fills the schema, the same bytes for the same salt. Run by psql with -v scale=N (N >= 1) and -v salt=TEXT.
--
-- An empty salt makes the data of contract/golden. Any other one draws other words, times, emoji and names of teams, so
-- that no answer is known beforehand: some of it is in the rows of each statement that an answer is made of. How many rows
-- there are, and how many words each has, does not depend on it: a request costs the same.
--
-- A block of data is one user, one team and 50 recipes: the first 25 belong to the user, the others
-- to the team. scale=1 makes 40 blocks (2,000 recipes). What a row holds depends on its id alone, so
-- the rows of scale 1 are part of every larger scale and the golden bodies hold at any scale.
\set blocks 40 * :scale
set tandem.salt = :'salt';

-- pick(seed, n): an integer in [0, n), spread evenly, fixed by the seed text.
create function pick(seed text, n integer) returns integer immutable parallel safe language sql
as $$ select ('x' || substr(md5(seed), 1, 7))::bit(28)::integer % n $$;

-- drawn(seed, n): the same, fixed by the salt as well.
create function drawn(seed text, n integer) returns integer stable parallel safe language sql
as $$ select pick(current_setting('tandem.salt') || seed, n) $$;

-- words(seed, n): n words of kitchen prose, with the characters that JSON encoders get wrong.
create function words(seed text, n integer) returns text stable parallel safe language sql
as $$
    select string_agg((array[
        'stir', 'the', 'sauce', 'until', 'glossy', 'then', 'fold', 'in', 'crème', 'fraîche', 'and',
        'jalapeño', 'with', 'a', 'pinch', 'of', 'salt', 'over', 'low', 'heat', '180 °C', 'for',
        'ten', 'minutes', 'half', 'an', 'onion', '"al dente"', 'noodles', 'broth', '½', 'cup',
        'add', 'butter', 'whisk', 'gently', 'rest', 'dough', '<cold>', 'water', 'rock\fish', 'zest',
        'of', 'one', 'lemon', 'sear', 'both', 'sides', '汤', 'simmer', 'covered', 'serve', 'warm',
        'A&B', 'stock', 'garlic', 'slice', 'thinly', 'toast', 'spices', 'deglaze', 'pan', 'it''s', 'done'
    ])[1 + drawn(seed || i, 64)], ' ' order by i)
    from generate_series(1, n) as i
$$;

-- moment(seed, lo): a whole second in the two years after lo.
create function moment(seed text, lo timestamptz) returns timestamptz stable parallel safe language sql
as $$ select lo + drawn(seed, 63072000) * interval '1 second' $$;

-- mark(seed): what tells a name of this salt from that of another; nothing where the salt is empty.
create function mark(seed text) returns text stable parallel safe language sql
as $$
    select case current_setting('tandem.salt') when '' then '' else ' ' || substr(md5(current_setting('tandem.salt') || seed), 1, 6) end
$$;

insert into core_myuser
select
    i,
    'cook' || i || '@example.org',
    case when i % 5 = 0 then null else 'Cook ' || i end
from generate_series(1, :blocks) as i;

-- Key i belongs to user i. Every user also has an expired key, which must be refused.
insert into user_sessions_session
select md5('session ' || i), i, timestamptz '2100-01-01 00:00:00Z' from generate_series(1, :blocks) as i
union all
select md5('expired ' || i), i, timestamptz '2020-01-01 00:00:00Z' from generate_series(1, :blocks) as i;

insert into core_team select i, 'Team ' || i || mark('team ' || i) from generate_series(1, :blocks) as i;

-- A user is active in the own team and the neighbour's, and a former member of the one after.
insert into core_membership
select i * 3 - 2, i, i, true from generate_series(1, :blocks) as i
union all
select i * 3 - 1, case when i % 2 = 0 then i - 1 else i + 1 end, i, true from generate_series(1, :blocks) as i
union all
select i * 3, i % :blocks + 1, i, false from generate_series(1, :blocks) as i
where i % 2 = 0;

insert into core_recipe
select
    i,
    initcap(words('recipe name ' || i, 4)),
    case when pick('author ' || i, 3) = 0 then null else 'Author ' || pick('author ' || i, 97) end,
    case when pick('source ' || i, 2) = 0 then null else 'https://example.org/recipes/' || i end,
    10 + pick('time ' || i, 110) || ' minutes',
    1 + pick('servings ' || i, 8) || ' servings',
    pick('edits ' || i, 40),
    moment('recipe ' || i, '2020-01-01Z'),
    moment('recipe ' || i, '2020-01-01Z') + pick('modified ' || i, 7776000) * interval '1 second',
    case when pick('archived ' || i, 20) = 0 then timestamptz '2024-06-01 12:00:00Z' end,
    case when i % 25 = 0 then timestamptz '2024-07-01 12:00:00Z' end,
    -- None to three, with what a reader of PostgreSQL's text form of arrays gets wrong. The brackets matter: without
    -- them these are the bounds of two dimensions, and every slice is empty.
    ((array['soup', 'café', 'hot, sweet', '"al dente"', 'stock\fish', '{}', 'warm'])[1 + drawn('tag ' || i, 5) :])[1:pick('tags ' || i, 4)],
    (i - 1) / 50 + 1,
    case when (i - 1) % 50 < 25 then 1 else 20 end
from generate_series(1, :blocks * 50) as i;

insert into core_ingredient
select
    (r - 1) * 16 + k, r, chr(96 + k) || pick('ingredient position ' || r || k, 10),
    1 + pick('quantity ' || r || k, 9) || (array[' cups', ' tbsp', ' g', '', ' ml'])[1 + pick('unit ' || r || k, 5)],
    words('ingredient ' || r || ' ' || k, 2),
    case when pick('described ' || r || k, 2) = 0 then '' else words('description ' || r || ' ' || k, 3) end,
    case when k = 16 then timestamptz '2024-01-01 00:00:00Z' end
from generate_series(1, :blocks * 50) as r, generate_series(1, 16) as k
where k = 16 or k <= 8 + pick('ingredients ' || r, 5);

insert into core_step
select
    (r - 1) * 16 + k, r, chr(96 + k) || pick('step position ' || r || k, 10),
    words('step ' || r || ' ' || k, 12 + pick('step length ' || r || k, 9))
    || case when k = 2 then E'\nThen\tserve.' else '' end,
    case when k = 16 then timestamptz '2024-01-01 00:00:00Z' end
from generate_series(1, :blocks * 50) as r, generate_series(1, 16) as k
where k = 16 or k <= 5 + pick('steps ' || r, 3);

insert into core_section
select (r - 1) * 4 + k, r, initcap(words('section ' || r || ' ' || k, 2)), chr(96 + k * 4) || '5', case when k = 4 then timestamptz '2024-01-01 00:00:00Z' end
from generate_series(1, :blocks * 50) as r, generate_series(1, 4) as k
where k = 4 or k <= pick('sections ' || r, 3);

-- Only users of the first 40 blocks act, so that bodies stay the same at every scale.
insert into core_note
select
    (r - 1) * 4 + k, r, words('note ' || r || ' ' || k, 11 + pick('note length ' || r || k, 9)),
    moment('note ' || r || ' ' || k, '2022-01-01Z'), moment('note ' || r || ' ' || k, '2022-01-01Z') + interval '90 minutes',
    1 + pick('note by ' || r || k, 40),
    case when pick('note edited ' || r || k, 2) = 0 then 1 + pick('note edited by ' || r || k, 40) end,
    case when k = 4 then timestamptz '2024-01-01 00:00:00Z' end
from generate_series(1, :blocks * 50) as r, generate_series(1, 4) as k
where k = 4 or k <= 2 + pick('notes ' || r, 2);
select setval(pg_get_serial_sequence('core_note', 'id'), :blocks * 50 * 4 + 1);

insert into core_reaction
select
    (n.id - 1) * 3 + k, n.id, (array['❤️', '😋', '👍', '🔥', '🤔'])[1 + drawn('emoji ' || n.id || k, 5)],
    1 + pick('reaction by ' || n.id || k, 40),
    n.created + k * interval '1 hour', n.created + k * interval '1 hour'
from core_note as n, generate_series(1, 3) as k
where k <= pick('reactions ' || n.id, 4);

insert into timeline_event
select
    (r - 1) * 6 + k, r, (array['created', 'archived', 'unarchived', 'deleted', 'scheduled', 'edited'])[k],
    moment('event ' || r || ' ' || k, '2021-01-01Z'),
    case when pick('event by ' || r || k, 4) = 0 then null else 1 + pick('event by ' || r || k, 40) end,
    case when k = 6 then timestamptz '2024-01-01 00:00:00Z' end
from generate_series(1, :blocks * 50) as r, generate_series(1, 6) as k
where k = 6 or k <= 2 + pick('events ' || r, 3);
select setval(pg_get_serial_sequence('timeline_event', 'id'), :blocks * 50 * 6 + 1);

drop function mark, moment, words, drawn, pick;
vacuum (analyze, freeze);
