CREATE SCHEMA hospital;
CREATE TABLE hospital.stay AS
SELECT p AS patient_no, 18 + ('x' || left(md5('age' || p), 4))::bit(16)::int % 70 AS age,
    (ARRAY['f', 'm'])[1 + ('x' || left(md5('sex' || p), 4))::bit(16)::int % 2] AS sex,
    (ARRAY['flu', 'fracture', 'asthma', 'diabetes', 'sepsis'])
        [1 + (('x' || left(md5('sick' || p), 4))::bit(16)::int % 100 * 5 / 100)] AS diagnosis,
    ('x' || left(md5('days' || p), 4))::bit(16)::int % 20 AS days
FROM generate_series(1, 3000) AS p;
ALTER TABLE hospital.stay ADD PRIMARY KEY (patient_no);
GRANT USAGE ON SCHEMA hospital TO steward;
GRANT SELECT ON hospital.stay TO steward;
