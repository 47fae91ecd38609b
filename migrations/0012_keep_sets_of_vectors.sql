-- Value sets of several columns.

ALTER TABLE pganon_private.memory ALTER COLUMN value_sets_of TYPE text[]
    USING CASE WHEN value_sets_of IS NOT NULL THEN ARRAY[value_sets_of] END;

COMMENT ON COLUMN pganon_private.memory.value_sets_of IS
    'the columns of which all versions that published any kept value sets together; NULL: none';
