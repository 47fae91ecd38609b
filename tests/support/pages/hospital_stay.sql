CREATE SCHEMA hospital;
CREATE TABLE hospital.stay AS
SELECT 18 + ('x' || left(md5('age' || p), 4))::bit(16)::int % 70 AS age, '761' || 10 + p % 40 AS zip,
    (ARRAY['flu', 'fracture', 'asthma', 'diabetes'])[1 + ('x' || left(md5('d' || p), 4))::bit(16)::int % 4] AS diagnosis
FROM generate_series(1, 3000) AS p;
GRANT USAGE ON SCHEMA hospital TO steward;
GRANT SELECT ON hospital.stay TO steward;
