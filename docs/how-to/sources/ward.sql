CREATE SCHEMA ward;
CREATE TABLE ward.known AS
SELECT job, age, disease, weight / sum(weight) OVER (PARTITION BY job, age) AS probability
FROM (
    SELECT job, age, disease,
        CASE disease
            WHEN 'flu' THEN 3
            WHEN 'back pain' THEN CASE WHEN outdoors THEN 3 ELSE 2 END
            WHEN 'hypertension' THEN 1 + 2 * old
            WHEN 'burnout' THEN CASE WHEN outdoors THEN 0.1 ELSE 2 END
            WHEN 'skin cancer' THEN CASE WHEN outdoors THEN 0.3 + 2 * old ELSE 0.02 END
            WHEN 'tick fever' THEN CASE WHEN outdoors THEN 1.2 ELSE 0 END
        END::float8 AS weight
    FROM unnest(ARRAY['baker', 'builder', 'clerk', 'farmer', 'roofer', 'teacher', 'vintner', 'weaver']) AS job, generate_series(20, 69) AS age,
        unnest(ARRAY['flu', 'back pain', 'hypertension', 'burnout', 'skin cancer', 'tick fever']) AS disease,
        LATERAL (SELECT (age - 20) / 50.0 AS old, job IN ('builder', 'farmer', 'roofer', 'vintner') AS outdoors) AS o
) AS weights;
CREATE TABLE ward.patient AS
SELECT patient_id, job, age, (
    SELECT disease FROM (SELECT disease, sum(probability) OVER (ORDER BY disease) AS until FROM ward.known AS k WHERE k.job = p.job AND k.age = p.age) AS u
    WHERE until > drawn ORDER BY until LIMIT 1) AS disease
FROM (
    SELECT g AS patient_id, 20 + ('x' || left(md5('age' || g), 4))::bit(16)::int % 50 AS age,
        (ARRAY['baker', 'builder', 'clerk', 'farmer', 'roofer', 'teacher', 'vintner', 'weaver'])[1 + ('x' || left(md5('job' || g), 4))::bit(16)::int % 8] AS job,
        ('x' || left(md5('disease' || g), 4))::bit(16)::int / 65536.0 AS drawn
    FROM generate_series(1, 1000) AS g
) AS p;
ALTER TABLE ward.patient ADD PRIMARY KEY (patient_id);
GRANT USAGE ON SCHEMA ward TO steward, analyst;
GRANT SELECT ON ward.patient, ward.known TO steward;
GRANT SELECT ON ward.known TO analyst;
