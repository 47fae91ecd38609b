-- A made-up hospital: 2,000 patients, their admissions and diagnoses, and the wards.
-- Draws are hashes, so everybody gets the same rows.
CREATE SCHEMA hospital;
CREATE FUNCTION hospital.draw(what text) RETURNS float8 IMMUTABLE LANGUAGE sql
RETURN ('x' || left(md5(what), 7))::bit(28)::int / 268435456.0::float8;
CREATE TABLE hospital.ward (ward_no integer PRIMARY KEY, name text NOT NULL);
INSERT INTO hospital.ward
SELECT n, (ARRAY['surgery', 'heart', 'lungs', 'nerves', 'bones', 'eyes'])[n]
FROM generate_series(1, 6) AS n;
CREATE TABLE hospital.patient (
    patient_no integer PRIMARY KEY, name text NOT NULL, born integer NOT NULL, sex text NOT NULL
);
INSERT INTO hospital.patient
SELECT
    p, 'name ' || p, 2005 - floor(80 * sqrt(hospital.draw('born' || p)))::int,
    CASE WHEN hospital.draw('sex' || p) < 0.52 THEN 'F' ELSE 'M' END
FROM generate_series(1, 2000) AS p;
CREATE TABLE hospital.admission (
    admission_no integer PRIMARY KEY,
    patient_no integer NOT NULL REFERENCES hospital.patient,
    ward_no integer NOT NULL REFERENCES hospital.ward,
    admitted date NOT NULL
);
INSERT INTO hospital.admission
SELECT
    (row_number() OVER (ORDER BY p.patient_no, n))::int, p.patient_no,
    1 + floor(6 * power(hospital.draw('ward' || p.patient_no || ' ' || n), 1.3))::int,
    date '2021-01-01' + floor(1460 * hospital.draw('day' || p.patient_no || ' ' || n))::int
FROM
    hospital.patient AS p,
    generate_series(1, floor(3.4 * hospital.draw('many' || p.patient_no))::int) AS n;
CREATE TABLE hospital.diagnosis (
    admission_no integer NOT NULL REFERENCES hospital.admission, code text NOT NULL
);
INSERT INTO hospital.diagnosis
SELECT
    a.admission_no,
    chr(64 + a.ward_no)
    || floor(8 * power(hospital.draw('code' || a.admission_no || ' ' || n), 1.5))::int
FROM
    hospital.admission AS a,
    generate_series(1, 1 + floor(2.4 * hospital.draw('codes' || a.admission_no))::int) AS n;
GRANT USAGE ON SCHEMA hospital TO steward;
GRANT SELECT ON ALL TABLES IN SCHEMA hospital TO steward;
