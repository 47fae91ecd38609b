-- columns --
-- How the columns of a release stand for values of the source.
SELECT c.version, c.view, c.column_name, c.type, c.form, c.kind, c.collation, c.attained, c.part, c.bucket
FROM pganon.release_columns AS c
WHERE c.release = %(release)s
ORDER BY c.position;
