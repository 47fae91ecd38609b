CREATE SCHEMA registry;
CREATE TABLE registry.patient AS
SELECT g AS patient_id, sex, age, 'D' || 1 + ascii(md5('district' || g)) % 6 AS district, cancer,
    CASE WHEN how >= 60 THEN (ARRAY['surgery', 'radiation', 'chemotherapy', 'none'])[1 + how % 4]
         WHEN cancer IN ('breast', 'colon') THEN 'surgery' WHEN cancer = 'lung' THEN 'chemotherapy'
         WHEN cancer = 'prostate' THEN 'hormones' ELSE 'radiation' END AS treatment,
    (ARRAY['weight loss', 'cough', 'back pain', 'bleeding', 'fatigue'])[1 + ascii(md5('symptom' || g)) % 5] AS symptom,
    CASE WHEN how < 60 THEN 3 ELSE 11 END + ascii(md5('days' || g)) % 9 AS days
FROM (
    SELECT g, sex, age, ('x' || left(md5('treatment' || g), 4))::bit(16)::int % 100 AS how,
        CASE WHEN hit < 26 THEN CASE sex WHEN 'female' THEN 'breast' ELSE 'prostate' END
             WHEN hit < 52 - (age < 60)::int * 8 THEN 'lung' WHEN hit < 74 THEN 'colon'
             WHEN hit < 88 AND sex = 'female' THEN 'ovary' ELSE 'skin' END AS cancer
    FROM (
        SELECT g, CASE WHEN g % 2 = 0 THEN 'female' ELSE 'male' END AS sex,
            35 + ('x' || left(md5('age' || g), 4))::bit(16)::int % 50 AS age,
            ('x' || left(md5('cancer' || g), 4))::bit(16)::int % 100 AS hit
        FROM generate_series(1, 480) AS g
    ) AS drawn
) AS made;
CREATE SCHEMA clinic;
CREATE TABLE clinic.visit AS
SELECT g AS patient_id, 20 + g * 7919 % 60 AS age, CASE WHEN g % 3 = 0 THEN 'male' ELSE 'female' END AS sex,
    'W' || 1 + g * 31 % 4 AS ward, (ARRAY['asthma', 'eczema', 'fracture', 'migraine'])[1 + ascii(md5('d' || g)) % 4] AS diagnosis
FROM generate_series(1, 200) AS g;
GRANT USAGE ON SCHEMA registry, clinic TO steward;
GRANT SELECT ON registry.patient, clinic.visit TO steward;
