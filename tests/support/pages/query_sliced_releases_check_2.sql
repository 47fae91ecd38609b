DO $$ BEGIN
    ASSERT (SELECT abs(sum(probability) - (
        WITH people AS (
            SELECT group_id, count(*) AS n, count(*) FILTER (WHERE age < 60) AS b FROM published.registry_qit GROUP BY group_id
        ), ill AS (
            SELECT group_id, sum(count) AS a1 FROM published.registry_st1 WHERE cancer = 'lung' GROUP BY group_id
        ), symptoms AS (
            SELECT group_id, sum(count) AS a2 FROM published.registry_st2 WHERE symptom = 'cough' GROUP BY group_id
        )
        SELECT sum(b * a1 * a2 / (n * n)) FROM people JOIN ill USING (group_id) JOIN symptoms USING (group_id)
    )) < 0.000001 FROM published.registry WHERE age < 60 AND cancer = 'lung' AND symptom = 'cough');
END $$;
