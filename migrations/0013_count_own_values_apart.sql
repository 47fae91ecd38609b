-- How many people of a cell have a value, where the bounds of its values do not say it.

-- There are none in memories from before: their bounds say all that is known.
ALTER TABLE pganon_private.memory ADD COLUMN own_tables text[] NOT NULL DEFAULT '{}';

COMMENT ON COLUMN pganon_private.memory.own_tables IS
    'how many people of a cell have a value, where its row of values does not say it';
