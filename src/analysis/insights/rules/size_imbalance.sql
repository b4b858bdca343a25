-- id: process-bytes-imbalance
-- severity: medium
-- of: processes 2
-- title: Processes move very different amounts of data
-- says: Process {pid:text} moved {most:bytes}; the median of {processes:count process} is {median:bytes}
-- gain: the share of its time in I/O for the bytes beyond the median
-- place: events where layer IN @io AND category IN ('read', 'write') AND host IS NOT DISTINCT FROM {host:sql} AND pid = {pid:sql}
-- try: spread files or blocks evenly over the workers
WITH per_process AS (SELECT host, pid, sum(bytes) AS bytes, sum(self) AS time FROM io GROUP BY host, pid),
who AS (SELECT host, pid, any_value(ppid) AS ppid, arg_max(name, start) AS program FROM processes GROUP BY host, pid),
-- Of one program, and nobody's parent: who starts workers does other work than they.
workers AS (
  SELECT p.*, w.program FROM per_process p LEFT JOIN who w ON w.pid = p.pid AND w.host IS NOT DISTINCT FROM p.host
  WHERE NOT EXISTS (FROM who c JOIN per_process d ON d.pid = c.pid AND d.host IS NOT DISTINCT FROM c.host
                    WHERE c.ppid = p.pid AND c.host IS NOT DISTINCT FROM p.host)),
sums AS (
  SELECT count(*) AS processes, max(bytes) AS most, median(bytes) AS median, arg_max(host, bytes) AS host, arg_max(pid, bytes) AS pid, arg_max(time, bytes) AS time, sum(bytes) AS every
  FROM workers WHERE bytes > 0 GROUP BY program ORDER BY every DESC LIMIT 1)
SELECT host, pid, CAST(most AS BIGINT) AS most, median, s.processes AS processes,
       CAST(least(time, t.wall) * (1 - median / most) AS BIGINT) AS gain FROM sums s, totals t
WHERE s.processes >= 2 AND every >= 16777216 AND median >= 1048576 AND most > 1.3 * median AND most - median > 0.15 * most
  AND NOT EXISTS (FROM processes WHERE rank IS NOT NULL)  -- of ranks, slow-rank tells
-- evidence:
SELECT host, pid, CAST(sum(bytes) AS BIGINT) AS bytes, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(self) AS BIGINT) AS self FROM io
GROUP BY host, pid ORDER BY bytes DESC LIMIT 50
