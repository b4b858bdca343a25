-- id: slow-rank
-- severity: high
-- of: processes 2
-- title: One rank is slower than the others
-- says: rank {rank:text} spent {most:ns} in its own functions and calls; the median of {ranks:count rank} is {median:ns}
-- gain: what the slowest rank took beyond the median, for every rank that waits for it
-- try: compare its files and functions with another rank's (fathom report TRACE functions --by pid)
WITH ranks AS (SELECT DISTINCT host, pid, rank FROM processes WHERE rank IS NOT NULL),
per_rank AS (
  SELECT r.rank, sum(s.self) AS time FROM summary s JOIN ranks r ON s.pid = r.pid AND s.host IS NOT DISTINCT FROM r.host
  WHERE s.category IS DISTINCT FROM 'wait' GROUP BY r.rank),
sums AS (SELECT count(*) AS ranks, max(time) AS most, median(time) AS median, arg_max(rank, time) AS rank FROM per_rank)
SELECT s.rank AS rank, s.ranks AS ranks, CAST(s.most AS BIGINT) AS most, s.median AS median, CAST(s.most - s.median AS BIGINT) AS gain
FROM sums s, totals t WHERE s.ranks >= 2 AND s.most > 1.2 * s.median AND s.most - s.median > 0.05 * t.wall
-- evidence:
SELECT r.rank, s.layer, s.name, CAST(sum(s.calls) AS BIGINT) AS calls, CAST(sum(s.self) AS BIGINT) AS self FROM summary s
JOIN (SELECT DISTINCT host, pid, rank FROM processes WHERE rank IS NOT NULL) r ON s.pid = r.pid AND s.host IS NOT DISTINCT FROM r.host
GROUP BY ALL ORDER BY self DESC LIMIT 50
