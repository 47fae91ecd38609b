DO $$ BEGIN
    ASSERT (SELECT abs(sum(probability) - 90) < 25 FROM published.registry WHERE cancer = 'colon' AND age < 60);
    ASSERT (SELECT abs(sum(probability) - 45) < 15 FROM published.registry WHERE cancer = 'lung' AND age < 60);
END $$;
