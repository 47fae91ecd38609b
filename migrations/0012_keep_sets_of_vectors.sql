-- Value sets of several columns.

-- Empty where nobody knows what earlier versions published, so that none are kept.
ALTER TABLE pganon_private.memory ALTER COLUMN value_sets_of TYPE text[] USING CASE
    WHEN value_sets_of = '' THEN '{}'
    WHEN value_sets_of IS NOT NULL THEN ARRAY[value_sets_of]
END;

COMMENT ON COLUMN pganon_private.memory.value_sets_of IS
    'the columns of which all versions that published any kept value sets together; empty: nobody'
    ' knows; NULL: none';

-- Of every version its judgement keeps the columns, too.
UPDATE pganon_private.version
SET guard = jsonb_set(guard, '{invariant}', CASE jsonb_typeof(guard -> 'invariant')
    WHEN 'string' THEN jsonb_build_array(guard -> 'invariant') ELSE '[]' END)
WHERE jsonb_typeof(guard -> 'invariant') IN ('string', 'null');
