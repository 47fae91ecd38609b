CREATE SCHEMA survey;
CREATE TABLE survey.person AS
SELECT p AS person_id, 18 + ('x' || left(md5('age' || p), 4))::bit(16)::int % 60 AS age,
    (ARRAY['school', 'college', 'university'])[1 + ('x' || left(md5('edu' || p), 4))::bit(16)::int % 3] AS edu,
    'R' || 1 + ('x' || left(md5('region' || p), 4))::bit(16)::int % 8 AS region,
    'J' || 1 + ('x' || left(md5('job' || p), 4))::bit(16)::int % 12 AS job
FROM generate_series(1, 3000) AS p;
ALTER TABLE survey.person ADD PRIMARY KEY (person_id);
GRANT USAGE ON SCHEMA survey TO steward;
GRANT SELECT ON survey.person TO steward;
