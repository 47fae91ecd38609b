CREATE SCHEMA town;
CREATE TABLE town.person AS
SELECT p AS person_id, 18 + ('x' || left(md5('age' || p), 4))::bit(16)::int % 70 AS age,
    1 + ('x' || left(md5('edu' || p), 4))::bit(16)::int % 6 AS edu,
    'P' || 1 + ('x' || left(md5('puma' || p), 4))::bit(16)::int % 8 AS puma,
    500 * (2 + ('x' || left(md5('income' || p), 4))::bit(16)::int % 12) AS income,
    (2 + ('x' || left(md5('income' || p), 4))::bit(16)::int % 12) / 3 AS band,
    p % 5 = 0 AS income_is_private
FROM generate_series(1, 400) AS p;
ALTER TABLE town.person ADD PRIMARY KEY (person_id);
GRANT USAGE ON SCHEMA town TO steward;
GRANT SELECT ON town.person TO steward;
