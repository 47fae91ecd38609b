DO $$ BEGIN
    ASSERT (SELECT abs(sum(probability) - 45) < 20 FROM published.patients WHERE disease = 'stroke' AND age BETWEEN 30 AND 44);
END $$;
