CREATE SCHEMA clinic;
CREATE TABLE clinic.diagnosis AS
SELECT p AS patient_no, CASE WHEN p % 2 = 0 THEN 'female' ELSE 'male' END AS sex,
    1930 + ('x' || left(md5('born' || p), 4))::bit(16)::int % 70 AS born,
    'D' || 1 + (('x' || left(md5('district' || p), 4))::bit(16)::int + (n > 1 AND p % 40 = 0)::int) % 6 AS district,
    (ARRAY['hypertension', 'diabetes', 'asthma', 'depression', 'migraine', 'arthritis', 'anaemia', 'eczema', 'gout', 'epilepsy'])[
        1 + floor(10 * power(('x' || left(md5(p || ' ' || n), 4))::bit(16)::int / 65536.0, 1.5))::int] AS disease
FROM generate_series(1, 600) AS p, generate_series(1, 3) AS n
WHERE n <= greatest(1, ('x' || left(md5('many' || p), 4))::bit(16)::int % 4);
GRANT USAGE ON SCHEMA clinic TO steward;
GRANT SELECT ON clinic.diagnosis TO steward;
