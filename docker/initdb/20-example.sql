-- A source to try it with, and who reads its releases; put your own here.
CREATE ROLE analyst NOLOGIN;
CREATE SCHEMA clinic;
CREATE TABLE clinic.visit (patient_id integer PRIMARY KEY, age integer, diagnosis text);
INSERT INTO clinic.visit
SELECT g, 20 + (g * 7919 % 60), (ARRAY['asthma', 'eczema', 'fracture'])[1 + g % 3]
FROM generate_series(1, 200) AS g;
GRANT USAGE ON SCHEMA clinic TO steward;
GRANT SELECT ON clinic.visit TO steward;
