CREATE SCHEMA clinic;
CREATE TABLE clinic.visit AS
SELECT g AS patient_id, 20 + (g * 7919 % 60) AS age, (ARRAY['asthma', 'eczema', 'fracture'])[1 + g % 3] AS diagnosis
FROM generate_series(1, 200) AS g;
GRANT USAGE ON SCHEMA clinic TO steward;
GRANT SELECT ON clinic.visit TO steward;
