CREATE SCHEMA clinic;
CREATE TABLE clinic.patient AS
SELECT g AS patient_id, age, sex, 'D' || 1 + ascii(md5('district' || g)) % 6 AS district,
    CASE WHEN hit < 30 + age THEN (ARRAY['heart failure', 'stroke', 'fracture'])[1 + hit % 3]
         ELSE (ARRAY['asthma', 'migraine', 'eczema', 'burnout', 'hepatitis'])[1 + hit % 5] END AS disease
FROM (
    SELECT g, CASE WHEN g % 2 = 0 THEN 'female' ELSE 'male' END AS sex,
        20 + ('x' || left(md5('age' || g), 4))::bit(16)::int % 60 AS age,
        ('x' || left(md5('disease' || g), 4))::bit(16)::int % 150 AS hit
    FROM generate_series(1, 1200) AS g
) AS made;
GRANT USAGE ON SCHEMA clinic TO steward;
GRANT SELECT ON clinic.patient TO steward;
