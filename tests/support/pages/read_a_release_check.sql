DO $$ BEGIN
    ASSERT (SELECT abs(sum(pganon.share(age, 30, 39)) - 67) < 7 FROM published.visits);
    ASSERT (SELECT abs(sum(pganon.share(age, 20, 39)) - 100) < 10 FROM published.tests);
    ASSERT (SELECT sum(pganon.share(visited, '2025-01-01', '2025-12-31')) = 400 FROM published.visits);
    ASSERT (SELECT sum(pganon.share(sex, 'female') + pganon.share(sex, 'male')) = 400 FROM published.visits);
END $$;
