-- id: slow-rank
-- severity: high
-- of: processes 2
-- title: One rank is slower than the others
-- says: The slowest was rank {rank:text}, busy for {most:ns}; the median of {ranks:count rank} is {median:ns}, so that the {others:text} {gain:ns} ahead of it
-- gain: what the slowest rank took beyond the median, for every rank that waits for it
-- place: events where host IS NOT DISTINCT FROM {host:sql} AND pid = {pid:sql}
-- try: compare its files and functions with another rank's (fathom report TRACE functions --by pid)
WITH sums AS (
  SELECT count(*) AS ranks, bool_or(slow) AS slow, arg_max(rank, busy) AS rank, arg_max(host, busy) AS host, arg_max(pid, busy) AS pid, max(busy) AS most,
         quantile_disc(busy, 0.5) AS median FROM ranks WHERE rank IS NOT NULL)
SELECT rank, host, pid, ranks, most, median, if(ranks = 2, 'other was', 'others were') AS others, most - median AS gain FROM sums WHERE slow
-- evidence:
SELECT rank, host, pid, wall, busy, waited, cpu, in_calls, calls, read, written FROM ranks
WHERE rank IS NOT NULL ORDER BY busy DESC, rank LIMIT 50
