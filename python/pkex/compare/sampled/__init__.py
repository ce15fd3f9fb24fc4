"""MMD and HSIC of more rows than all pairs of which could be compared: by a design of pairs.

`sources`: rows that are read chunk by chunk; `budget`: how many pairs; `design`: which ones;
`held_rows`: the rows of a design, as many at a time as fit; `blocks`: sums over its blocks;
`reference`: the rows that kernel and means are found on; `means`: what the means of absent factors
add to errors; `estimate_over_design`: values and standard errors; `mmd` and `hsic`: the statistics.
"""
