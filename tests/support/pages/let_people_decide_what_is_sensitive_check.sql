DO $$ BEGIN
    ASSERT (SELECT count(*) = 1500 FROM published.decided);
    ASSERT (SELECT bool_and((town_bucket IS NOT NULL) = (town_form = 'b')) FROM published.decided);
    ASSERT (SELECT min(n) >= 5 FROM (SELECT count(*) AS n FROM published.decided GROUP BY group_id) AS g);
    ASSERT (SELECT max(count) = 1 FROM published.decided_values_town);
END $$;
