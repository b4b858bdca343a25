-- id: process-bytes-imbalance
-- severity: medium
-- of: processes 2
-- title: Processes move very different amounts of data
-- says: process {pid:text} moved {most:bytes}; the median of {processes:count process} is {median:bytes}
-- gain: the share of its time in I/O for the bytes beyond the median
-- try: spread files or blocks evenly over the workers
WITH per_process AS (SELECT host, pid, sum(bytes) AS bytes, sum(self) AS time FROM io GROUP BY host, pid),
sums AS (
  SELECT count(*) AS processes, max(bytes) AS most, median(bytes) AS median, arg_max(pid, bytes) AS pid, arg_max(time, bytes) AS time, sum(bytes) AS every
  FROM per_process WHERE bytes > 0)
SELECT pid, CAST(most AS BIGINT) AS most, median, s.processes AS processes,
       CAST(least(time, t.wall) * (1 - median / most) AS BIGINT) AS gain FROM sums s, totals t
WHERE s.processes >= 2 AND every >= 16777216 AND median >= 1048576 AND most > 1.3 * median AND most - median > 0.15 * most
  AND NOT EXISTS (FROM processes WHERE rank IS NOT NULL)  -- of ranks, slow-rank tells
-- evidence:
SELECT host, pid, CAST(sum(bytes) AS BIGINT) AS bytes, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(self) AS BIGINT) AS self FROM io
GROUP BY host, pid ORDER BY bytes DESC LIMIT 50
