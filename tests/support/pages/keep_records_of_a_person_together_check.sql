DO $$ BEGIN
    ASSERT (SELECT abs(sum(n * pganon.share(born, 1950, 1959)) - 21) < 12
        FROM (SELECT born, count(DISTINCT individual_no) AS n FROM published.diagnoses WHERE disease = 'diabetes' GROUP BY class_id, born) AS c);
    ASSERT (SELECT bool_and(n = 1) FROM (SELECT count(DISTINCT class_id) AS n FROM published.diagnoses GROUP BY individual_no) AS p);
END $$;
