-- The demo's hospital: generated, no real person in it.

-- create_patients --
-- One admission per patient; diagnoses depend on age and sex, places are skewed.
CREATE TABLE hospital.patient AS
WITH seeded AS (
    SELECT setseed(0.2718)
),
drawn AS (
    SELECT
        g AS patient_no,
        random() AS u_age, random() AS u_age2, random() AS u_sex, random() AS u_zip,
        random() AS u_day, random() AS u_diagnosis, random() AS u_stay, random() AS u_payer
    FROM seeded, generate_series(1, 20000) AS g
),
person AS (
    SELECT
        d.*,
        -- two humps: births and young adults, and the long tail of old age
        least(99, greatest(0, CASE
            WHEN d.u_age < 0.09 THEN floor(d.u_age2 * 6)
            WHEN d.u_age < 0.40 THEN 18 + floor(25 * power(d.u_age2, 0.9))
            ELSE 40 + floor(55 * power(d.u_age2, 0.75))
        END))::int AS age,
        CASE WHEN d.u_sex < 0.53 THEN 'female' ELSE 'male' END AS sex,
        -- a few large districts, many small ones
        lpad((76100 + floor(90 * power(d.u_zip, 2.4)))::int::text, 5, '0') AS zip,
        date '2025-01-01' + floor(365 * d.u_day)::int AS admitted
    FROM drawn AS d
),
weighed AS (
    SELECT
        p.patient_no,
        c.diagnosis,
        sum(w.weight) OVER (PARTITION BY p.patient_no ORDER BY c.diagnosis) AS up_to,
        sum(w.weight) OVER (PARTITION BY p.patient_no) AS whole,
        w.weight,
        p.u_diagnosis
    FROM person AS p
    CROSS JOIN (VALUES
        ('appendicitis', 5.0, 20, 18, 0.0), ('asthma', 4.0, 12, 20, 0.0),
        ('breast cancer', 4.0, 62, 14, 1.0), ('chest pain', 7.0, 58, 18, 0.0),
        ('childbirth', 28.0, 30, 6, 1.0), ('chronic obstructive pulmonary disease', 5.0, 70, 11, 0.0),
        ('concussion', 3.5, 22, 20, 0.0), ('depression', 5.0, 42, 18, 0.0),
        ('diabetes', 5.0, 64, 16, 0.0), ('fracture', 7.0, 55, 34, 0.0),
        ('gallstones', 4.5, 52, 16, 0.0), ('heart failure', 11.0, 79, 10, 0.0),
        ('hernia', 4.0, 56, 18, 0.0), ('HIV', 0.7, 38, 12, 0.0),
        ('pneumonia', 7.0, 72, 24, 0.0), ('prostate cancer', 4.0, 70, 9, -1.0),
        ('schizophrenia', 1.5, 34, 14, 0.0), ('sepsis', 3.0, 74, 14, 0.0),
        ('stroke', 8.0, 75, 11, 0.0), ('substance use', 3.5, 36, 13, 0.0)
    ) AS c(diagnosis, frequency, centre, spread, only_sex)
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN c.only_sex = 1.0 AND p.sex <> 'female' THEN 0
            WHEN c.only_sex = -1.0 AND p.sex <> 'male' THEN 0
            WHEN c.diagnosis = 'childbirth' AND p.age NOT BETWEEN 16 AND 48 THEN 0
            ELSE c.frequency * exp(-power((p.age - c.centre) / c.spread::float8, 2) / 2) + 0.01
        END AS weight
    ) AS w
),
chosen AS (
    SELECT DISTINCT ON (patient_no) patient_no, diagnosis
    FROM weighed
    WHERE up_to >= u_diagnosis * whole AND weight > 0
    ORDER BY patient_no, up_to
)
SELECT
    p.patient_no,
    'Patient ' || p.patient_no AS name,
    p.age,
    p.sex,
    p.zip,
    p.admitted,
    c.diagnosis,
    greatest(1, floor(-6 * ln(1 - p.u_stay * 0.999)))::int AS days,
    CASE WHEN p.u_payer < 0.09 THEN NULL WHEN p.u_payer < 0.82 THEN 'statutory'
        ELSE 'private' END AS insurance
FROM person AS p
JOIN chosen AS c USING (patient_no)
ORDER BY p.patient_no;

-- finish_patients --
-- The key of the table, and which columns always have a value.
ALTER TABLE hospital.patient
    ADD PRIMARY KEY (patient_no),
    ALTER COLUMN age SET NOT NULL,
    ALTER COLUMN sex SET NOT NULL,
    ALTER COLUMN zip SET NOT NULL,
    ALTER COLUMN admitted SET NOT NULL,
    ALTER COLUMN diagnosis SET NOT NULL;

-- analyze_patients --
-- Statistics for the planner and for `pganon policy init`.
ANALYZE hospital.patient;

-- create_clinic --
-- Other patients, in four tables: their admissions and diagnoses, and the wards.
CREATE SCHEMA clinic
CREATE TABLE ward (ward_no integer PRIMARY KEY, name text NOT NULL)
CREATE TABLE patient (
    patient_no integer PRIMARY KEY, name text NOT NULL, born integer NOT NULL, sex text NOT NULL
)
CREATE TABLE admission (
    admission_no integer PRIMARY KEY,
    patient_no integer NOT NULL REFERENCES patient,
    ward_no integer NOT NULL REFERENCES ward,
    admitted date NOT NULL
)
CREATE TABLE diagnosis (
    admission_no integer NOT NULL REFERENCES admission, code text NOT NULL
);

-- fill_clinic --
-- Wards of obstetrics have women alone.
WITH seeded AS (
    SELECT setseed(0.5772)
),
ward AS (
    INSERT INTO clinic.ward
    SELECT n, (ARRAY['obstetrics', 'surgery', 'heart', 'lungs', 'nerves', 'bones'])[n]
    FROM generate_series(1, 6) AS n
),
patient AS (
    INSERT INTO clinic.patient
    SELECT
        n, 'Patient ' || n, 2005 - floor(80 * sqrt(random()))::int,
        CASE WHEN random() < 0.52 THEN 'female' ELSE 'male' END
    FROM seeded, generate_series(1, 2000) AS n
    RETURNING patient_no, born, sex
),
admission AS (
    INSERT INTO clinic.admission
    SELECT
        row_number() OVER (), p.patient_no,
        CASE WHEN p.sex = 'female' AND p.born > 1975 AND random() < 0.4 THEN 1
            ELSE 2 + floor(5 * random()) END,
        date '2021-01-01' + floor(1460 * random())::int
    FROM patient AS p, generate_series(1, floor(3.4 * random())::int + 0 * p.patient_no) AS n
    RETURNING admission_no, ward_no
)
INSERT INTO clinic.diagnosis
SELECT a.admission_no, chr(64 + a.ward_no) || floor(8 * power(random(), 1.5))
FROM admission AS a, generate_series(1, 1 + floor(2.4 * random())::int + 0 * a.ward_no) AS n;

-- analyze_clinic --
-- Statistics for the planner.
ANALYZE clinic.patient, clinic.admission, clinic.diagnosis, clinic.ward;
