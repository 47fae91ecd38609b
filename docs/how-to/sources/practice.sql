CREATE SCHEMA practice;
CREATE TABLE practice.patient AS
SELECT g AS patient_id, age, sex, town, disease,
    CASE WHEN no_town % 10 = 0 THEN NULL ELSE no_town % 10 < 3 END AS town_is_private, no_age % 5 = 0 AS age_is_private
FROM (
    SELECT g, CASE WHEN g % 2 = 0 THEN 'female' ELSE 'male' END AS sex,
        20 + ('x' || left(md5('age' || g), 4))::bit(16)::int % 60 AS age,
        (ARRAY['Ahlen', 'Beckum', 'Coesfeld', 'Datteln', 'Emsdetten', 'Lünen'])[1 + ('x' || left(md5('town' || g), 4))::bit(16)::int % 6] AS town,
        (ARRAY['asthma', 'migraine', 'eczema', 'burnout', 'hepatitis', 'stroke', 'fracture'])[1 + ('x' || left(md5('disease' || g), 4))::bit(16)::int % 7] AS disease,
        ('x' || left(md5('no town' || g), 4))::bit(16)::int AS no_town, ('x' || left(md5('no age' || g), 4))::bit(16)::int AS no_age
    FROM generate_series(1, 1500) AS g
) AS made;
ALTER TABLE practice.patient ADD PRIMARY KEY (patient_id);
GRANT USAGE ON SCHEMA practice TO steward;
GRANT SELECT ON practice.patient TO steward;
