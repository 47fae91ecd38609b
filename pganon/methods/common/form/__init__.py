"""Parts of published forms that several families have: classes, members, regions, attacks."""
