-- Whether a text is a day as ISO 8601 writes it, such as 2026-11-30.
CREATE FUNCTION pganon.is_day(p_text text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    SET "DateStyle" = 'ISO, YMD'
AS $$
BEGIN
    RETURN p_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' AND p_text::date IS NOT NULL;
EXCEPTION WHEN data_exception THEN
    RETURN false;
END
$$;

COMMENT ON FUNCTION pganon.is_day(text) IS 'whether a text is a day, as in 2026-11-30';
