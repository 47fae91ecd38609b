CREATE SCHEMA city;
CREATE TABLE city.permit AS
SELECT 'P' || lpad(g::text, 3, '0') AS plate,
    2020 + ascii(md5('issued' || g)) % 5 AS issued,
    (ARRAY['car', 'car', 'van', 'motorcycle'])[1 + ascii(md5('vehicle' || g)) % 4] AS vehicle
FROM generate_series(1, 60) AS g;
CREATE TABLE city.sighting AS
SELECT 'P' || lpad(g::text, 3, '0') AS plate,
    (ARRAY['Z1', 'Z2', 'Z3', 'Z4'])[1 + ascii(md5('zone' || g)) % 4] AS zone,
    8 + ascii(md5('hour' || g)) % 11 AS hour,
    10 + g * 7 % 50 AS minutes
FROM generate_series(1, 60) AS g;
CREATE TABLE city.parked AS SELECT * FROM city.permit JOIN city.sighting USING (plate);
GRANT USAGE ON SCHEMA city TO steward;
GRANT SELECT ON city.parked TO steward;
