"""Top-down partitioning of weighted cells: all groups of a round in the same statements.

From a table of cells and one of groups to start from, groups are cut in two, round after round,
until none can be. Which attributes are tried, where they are cut and which cuts are allowable is a
:class:`~pganon.methods.common.rounds.rule.CutRule`;
:class:`~pganon.methods.common.rounds.rounds.CutRounds` has the steps that all rules share.

    cells_r   (node, codes, w, ...)          node: active if positive, else final
    nodes_r   (node, n, extents, again)      the active groups with what they cover

A round, on the active groups:

    tries   the attributes to try for each group, from what it covers
    ...     tables of the rule. Most have `ranked`, the values in cutting order, with cumulative
            weight and what their cells cover: the one scan of the round in which cells are counted,
            unless there are very many attributes; and `best`, the cut of each try
    halves  what both sides of the cuts that compete cover, from `ranked` or from the cells
    moves   what becomes of each group: cut, tried again with all attributes, or final
    cells   the cells with their group of the next round; `done` keeps those of final groups
    nodes   the groups of the next round with what they cover, from `halves`

Rounds may end while groups are active, once these are small enough for who goes on with them.
"""
