-- id: process-time-imbalance
-- severity: medium
-- of: processes 2
-- title: One process spends much longer in I/O
-- says: process {pid:text} spent {most:ns} in I/O; the median of {processes:count process} is {median:ns}
-- gain: what the slowest process took beyond the median
-- try: look at what this process reads and writes ('fathom report TRACE files --by pid'), and where it runs
WITH per_process AS (SELECT host, pid, sum(self) AS time FROM io GROUP BY host, pid),
sums AS (
  SELECT count(*) AS processes, max(time) AS most, median(time) AS median, arg_max(pid, time) AS pid
  FROM per_process)
SELECT s.pid AS pid, CAST(s.most AS BIGINT) AS most, s.median AS median, s.processes AS processes, CAST(s.most - s.median AS BIGINT) AS gain
FROM sums s, totals t WHERE s.processes >= 2 AND s.median > 0.01 * t.wall AND s.most > 1.3 * s.median AND s.most - s.median > 0.1 * t.wall
  AND NOT EXISTS (FROM processes WHERE rank IS NOT NULL)  -- of ranks, slow-rank tells
-- evidence:
SELECT host, pid, CAST(sum(self) AS BIGINT) AS self, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(bytes) AS BIGINT) AS bytes FROM io
GROUP BY host, pid ORDER BY self DESC LIMIT 50
