-- A limit that a policy sets under `requests`, or what holds without; the document may be any.
CREATE FUNCTION pganon.limit_of(p_requests jsonb, p_key text, p_default numeric) RETURNS numeric
    LANGUAGE sql IMMUTABLE
RETURN CASE jsonb_typeof(p_requests -> p_key)
    WHEN 'number' THEN (p_requests ->> p_key)::numeric ELSE p_default END;

COMMENT ON FUNCTION pganon.limit_of(jsonb, text, numeric) IS 'a limit of a policy, or the default';
