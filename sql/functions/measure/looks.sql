-- What a reader sees in a text: the same for texts that differ in case, in blanks at the ends or
-- their number, in characters that show nothing, or in the way Unicode composes a letter. NULL looks
-- like an empty text. normalize() knows UTF8 alone; elsewhere letters have one form.
CREATE FUNCTION pganon.looks(p_text text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN btrim(regexp_replace(
        lower(regexp_replace(
            CASE getdatabaseencoding()
                WHEN 'UTF8' THEN normalize(coalesce(p_text, '') COLLATE "default", NFKD)
                ELSE coalesce(p_text, '') COLLATE "default" END,
            '[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E'
            '\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0]',
            '', 'g'
        )),
        '[\s\u0085\u00A0\u2028\u2029]+', ' ', 'g'
    ));

COMMENT ON FUNCTION pganon.looks(text) IS
    'what is seen of a text, without case, invisible characters and superfluous blanks';
