select user_id from user_sessions_session where session_key = $1 and expire_date > now()
