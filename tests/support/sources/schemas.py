"""Schemas of related tables with foreign keys, of several kinds, for first policies."""

from __future__ import annotations

SCHOOL = """
CREATE SCHEMA school;
CREATE TABLE school.class (class_id serial PRIMARY KEY, name text NOT NULL, year int);
INSERT INTO school.class (name, year) SELECT 'class ' || n, 5 + n % 8 FROM generate_series(1, 24) n;
CREATE TABLE school.teacher (teacher_id int PRIMARY KEY, surname text, subject text);
INSERT INTO school.teacher SELECT n, 'teacher ' || n, 'maths' FROM generate_series(1, 20) n;
CREATE TABLE school.subject (
    code text PRIMARY KEY, title text NOT NULL, head int REFERENCES school.teacher
);
INSERT INTO school.subject SELECT chr(64 + n), 'subject ' || n, n FROM generate_series(1, 8) n;
CREATE TABLE school.pupil (
    pupil_id int PRIMARY KEY, first_name text, birth_date date, gender text, zip text,
    class_id int REFERENCES school.class, mentor int REFERENCES school.pupil
);
INSERT INTO school.pupil
SELECT n, 'pupil ' || n, date '2008-01-01' + (n * 37) % 2500, (ARRAY['f', 'm'])[1 + n % 2],
    (ARRAY['10115', '10117', '10119', '10178'])[1 + n % 4], 1 + n % 24, nullif(n % 600, 0)
FROM generate_series(1, 900) n;
CREATE TABLE school.enrolment (
    pupil_id int REFERENCES school.pupil, subject text REFERENCES school.subject, term int,
    level text, teacher_id int REFERENCES school.teacher, PRIMARY KEY (pupil_id, subject, term)
);
INSERT INTO school.enrolment
SELECT
    p, chr(64 + s), t, (ARRAY['basic', 'advanced', 'honours'])[1 + (p + s / 7) % 3],
    1 + (p + s) % 20
FROM generate_series(1, 900) p, generate_series(1, 8) s, generate_series(1, 2) t
WHERE (p * 7 + s * 13 + t) % 3 = 0;
CREATE TABLE school.grade (
    pupil_id int, subject text, term int, exam_no int, grade int, remark text,
    marked_at timestamptz,
    FOREIGN KEY (pupil_id, subject, term) REFERENCES school.enrolment (pupil_id, subject, term),
    PRIMARY KEY (pupil_id, subject, term, exam_no)
);
INSERT INTO school.grade
SELECT e.pupil_id, e.subject, e.term, x, 1 + (e.pupil_id + x) % 6,
    'remark ' || e.pupil_id, timestamptz '2023-01-01' + interval '1 hour' * (e.pupil_id * x)
FROM school.enrolment e, generate_series(1, 2) x;
CREATE TABLE school.siblings (
    one int REFERENCES school.pupil, other int REFERENCES school.pupil, kind text
);
INSERT INTO school.siblings
SELECT n, n + 1, (ARRAY['full', 'half'])[1 + n % 2] FROM generate_series(1, 800, 3) n;
CREATE TABLE school.counselling (
    pupil_id int REFERENCES school.pupil, reason text NOT NULL, notes text
);
INSERT INTO school.counselling
SELECT n, (ARRAY['anxiety', 'family', 'bullying'])[1 + (n / 9) % 3], 'note ' || n
FROM generate_series(1, 900, 9) n;
CREATE TABLE school.attendance (
    pupil_id int REFERENCES school.pupil, term int, sheet int, days_absent int,
    PRIMARY KEY (pupil_id, term, sheet)
);
INSERT INTO school.attendance
SELECT n, t, 1, (n * t) % 7 FROM generate_series(1, 900) n, generate_series(1, 2) t;
CREATE TABLE school.prize (pupil_id int REFERENCES school.pupil, prize text);
INSERT INTO school.prize VALUES (1, 'chess'), (2, 'maths');
CREATE TABLE school.library_card (
    card_no int PRIMARY KEY, pupil_id int NOT NULL REFERENCES school.pupil
);
INSERT INTO school.library_card SELECT n, n FROM generate_series(1, 900) n;
CREATE TABLE school.loan (
    card_no int REFERENCES school.library_card, lent date, genre text
);
INSERT INTO school.loan
SELECT n, date '2023-01-01' + n % 300, (ARRAY['fiction', 'science'])[1 + n % 2]
FROM generate_series(1, 900) n;
"""
"""A composite key, an m:n table, terms as parts of keys, pupils named by themselves, siblings,
a table few have rows in, a table nobody can publish columns of, and what leads over it."""

SHOP = """
CREATE SCHEMA shop; CREATE SCHEMA catalogue;
CREATE TABLE catalogue.category (category_id int PRIMARY KEY, label text NOT NULL);
INSERT INTO catalogue.category SELECT n, 'category ' || n FROM generate_series(1, 6) n;
CREATE TABLE catalogue.supplier (
    supplier_id int PRIMARY KEY, company text, phone text, address text
);
INSERT INTO catalogue.supplier
SELECT n, 'company ' || n, '0' || n, 'street ' || n FROM generate_series(1, 10) n;
CREATE TABLE catalogue.product (
    sku text PRIMARY KEY, name text, description text, price numeric(8, 2),
    category_id int REFERENCES catalogue.category, supplier_id int REFERENCES catalogue.supplier
);
INSERT INTO catalogue.product
SELECT 'P' || n, 'product ' || n, repeat('a long text ', 12), n * 1.5, 1 + n % 6, 1 + n % 10
FROM generate_series(1, 60) n;
CREATE TYPE shop.status AS ENUM ('new', 'paid', 'sent', 'returned');
CREATE TABLE shop."Customer" (
    "CustomerId" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email text UNIQUE, birthday date,
    sex char(1), country text, loyalty_group int
);
INSERT INTO shop."Customer" (email, birthday, sex, country, loyalty_group)
SELECT n || '@example.org', date '1950-01-01' + (n * 61) % 18000,
    CASE WHEN n % 50 = 0 THEN NULL WHEN n % 2 = 0 THEN 'F' ELSE 'M' END,
    (ARRAY['DE', 'FR', 'AT', 'PL'])[1 + n % 4], n % 3
FROM generate_series(1, 1500) n;
CREATE TABLE shop."Order" (
    "OrderId" bigint PRIMARY KEY, "CustomerId" bigint REFERENCES shop."Customer",
    ordered_at timestamp NOT NULL, status shop.status, "group" text, total numeric(10, 2),
    persons int
);
INSERT INTO shop."Order"
SELECT n, CASE WHEN n % 40 = 0 THEN NULL ELSE 1 + (n * 7) % 1500 END,
    timestamp '2022-01-01' + interval '1 day' * (n % 700),
    (ARRAY['new', 'paid', 'sent', 'returned'])[1 + (n / 3) % 4]::shop.status,
    (ARRAY['a', 'b', 'c'])[1 + (n / 5) % 3], (n * 13) % 400 + 0.99, 1 + (n / 7) % 4
FROM generate_series(1, 3000) n;
CREATE TABLE shop.order_line (
    "OrderId" bigint REFERENCES shop."Order", line_no int, sku text REFERENCES catalogue.product,
    quantity int, "group_id" int, gift boolean, PRIMARY KEY ("OrderId", line_no)
);
INSERT INTO shop.order_line
SELECT o, l, 'P' || (1 + (o * l * 11) % 60), 1 + (o + l) % 5, (o * l) % 7, o % 100 = 0
FROM generate_series(1, 3000) o, generate_series(1, 2) l;
ALTER TABLE shop."Order" ADD main_line int;
UPDATE shop."Order" SET main_line = 1;
ALTER TABLE shop."Order" ADD FOREIGN KEY ("OrderId", main_line)
    REFERENCES shop.order_line ("OrderId", line_no);
CREATE TABLE shop.delivery (
    delivery_id int PRIMARY KEY, "OrderId" bigint REFERENCES shop."Order",
    "CustomerId" bigint REFERENCES shop."Customer", carrier text, address text
);
INSERT INTO shop.delivery
SELECT "OrderId", "OrderId", "CustomerId", (ARRAY['bike', 'van', 'post'])[1 + "OrderId" % 3], 'x'
FROM shop."Order" WHERE "OrderId" % 4 > 0;
CREATE TABLE shop.address (
    address_id int PRIMARY KEY, "CustomerId" bigint REFERENCES shop."Customer", city text
);
INSERT INTO shop.address SELECT n, n, 'city ' || n % 9 FROM generate_series(1, 1500) n;
CREATE TABLE shop.audit (
    "CustomerId" bigint REFERENCES shop."Customer", what text, payload jsonb
) PARTITION BY LIST (what);
CREATE TABLE shop.audit_1 PARTITION OF shop.audit DEFAULT;
INSERT INTO shop.audit SELECT 1 + n % 1500, (ARRAY['login', 'order', 'complaint'])[1 + n % 3], '{}'
FROM generate_series(1, 4000) n;
"""
"""Names with capitals and of key words, lookups of lookups, orphans, a circle, two ways to one
person, partitions, columns that are called as those that pganon adds."""
