"""`ranges: region`: a group shows the bounds of the region that it is in, not what it contains.

A region is what the cuts of a first version leave of the whole domain: its classes, extended to all
who would have been in them. So what a group shows says nothing of its people but where the cuts
send them, and groups of new individuals show the same bounds.

    region_paths   (region, p<i>..)   nodes that cut attribute i on the way to a region, minus the
                   node where the way went right; 0: kept apart by its NULLs
    bound<i>       (path, g, z, loss, glm, height)   what all regions with this path show of
                   attribute i: value, whether NULLs go there, and what is lost
    bounds         (region, g<i>, z<i>, loss<i>, glm<i>, height<i>)   stored with the first version,
                   owner only
    regions        (class_id, region)   stored with every version, owner only

What is lost is a share of the span of the first version, or of what is declared: stored, so that it
is the same for groups of all versions.
"""
