SELECT "user_sessions_session"."user_id" AS "user_id"
FROM "user_sessions_session"
WHERE ("user_sessions_session"."expire_date" > (STATEMENT_TIMESTAMP()) AND "user_sessions_session"."session_key" = $1)
    LIMIT $2
