CREATE TABLE public.staff AS
SELECT p AS person, 20 + ('x' || left(md5('age' || p), 4))::bit(16)::int % 45 AS age,
    'team ' || p % 6 AS team, 'grade ' || p % 6 / 2 AS pay,
    'reason ' || ('x' || left(md5('absent' || p), 4))::bit(16)::int % 12 AS absence
FROM generate_series(1, 1600) AS p;
ALTER TABLE public.staff ADD PRIMARY KEY (person);
GRANT SELECT ON public.staff TO steward;
