select
    team.id, team.name,
    (
        select count(*)::integer from core_membership as member where member.team_id = team.id and member.is_active
    ) as members
from core_membership as own
inner join core_team as team on team.id = own.team_id
where own.user_id = $1 and own.is_active
order by team.id
