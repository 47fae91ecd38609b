CREATE SCHEMA clinic;
CREATE TABLE clinic.visit AS
SELECT g AS patient_id, 20 + (g * 7919 % 60) AS age, CASE WHEN g % 3 = 0 THEN 'male' ELSE 'female' END AS sex,
    date '2025-01-01' + (g * 31 % 365) AS visited, (ARRAY['asthma', 'eczema', 'fracture', 'migraine'])[1 + g * 13 % 4] AS diagnosis,
    CASE WHEN g % 40 = 0 THEN NULL ELSE (1 + g % 9) * 10000 END AS income, 1 + g * 17 % 9 AS days
FROM generate_series(1, 400) AS g;
CREATE TABLE clinic.test AS
SELECT 20 + (g * 7841 % 60) AS age, CASE WHEN g % 2 = 0 THEN 'male' ELSE 'female' END AS sex, g * 11 % 7 AS value
FROM generate_series(1, 300) AS g;
ALTER TABLE clinic.visit ALTER sex SET NOT NULL, ALTER age SET NOT NULL, ALTER visited SET NOT NULL;
GRANT USAGE ON SCHEMA clinic TO steward;
GRANT SELECT ON clinic.visit, clinic.test TO steward;
