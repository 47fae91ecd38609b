CREATE SCHEMA clinic;
CREATE TABLE clinic.visit AS
SELECT g AS patient_id, 20 + (g * 7919 % 59) AS age, CASE WHEN g % 3 = 0 THEN 'male' ELSE 'female' END AS sex,
    (ARRAY['asthma', 'eczema', 'fracture', 'migraine'])[1 + g * 13 % 4] AS diagnosis, 1 + ascii(md5('d' || g)) % 9 AS days
FROM generate_series(1, 400) AS g;
GRANT USAGE ON SCHEMA clinic TO steward;
GRANT SELECT ON clinic.visit TO steward;
