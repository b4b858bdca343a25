-- id: process-time-imbalance
-- severity: medium
-- of: processes 2
-- title: One process spends much longer in I/O
-- says: Process {pid:text} spent {most:ns} in I/O; the median of {processes:count process} is {median:ns}
-- gain: what the slowest process took beyond the median
-- place: events where layer IN @io AND category IN ('read', 'write') AND host IS NOT DISTINCT FROM {host:sql} AND pid = {pid:sql}
-- try: look at what this process reads and writes ('fathom report TRACE files --by pid'), and where it runs
WITH per_process AS (SELECT host, pid, sum(self) AS time FROM io GROUP BY host, pid),
who AS (SELECT host, pid, any_value(ppid) AS ppid, arg_max(name, start) AS program FROM processes GROUP BY host, pid),
-- Of one program, and nobody's parent: who starts workers does other work than they.
workers AS (
  SELECT p.*, w.program FROM per_process p LEFT JOIN who w ON w.pid = p.pid AND w.host IS NOT DISTINCT FROM p.host
  WHERE NOT EXISTS (FROM who c JOIN per_process d ON d.pid = c.pid AND d.host IS NOT DISTINCT FROM c.host
                    WHERE c.ppid = p.pid AND c.host IS NOT DISTINCT FROM p.host)),
sums AS (
  SELECT count(*) AS processes, max(time) AS most, median(time) AS median, arg_max(host, time) AS host, arg_max(pid, time) AS pid
  FROM workers GROUP BY program ORDER BY sum(time) DESC LIMIT 1)
SELECT s.host AS host, s.pid AS pid, CAST(s.most AS BIGINT) AS most, s.median AS median, s.processes AS processes, CAST(s.most - s.median AS BIGINT) AS gain
FROM sums s, totals t WHERE s.processes >= 2 AND s.median > 0.01 * t.wall AND s.most > 1.3 * s.median AND s.most - s.median > 0.1 * t.wall
  AND NOT EXISTS (FROM processes WHERE rank IS NOT NULL)  -- of ranks, slow-rank tells
-- evidence:
SELECT host, pid, CAST(sum(self) AS BIGINT) AS self, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(bytes) AS BIGINT) AS bytes FROM io
GROUP BY host, pid ORDER BY self DESC LIMIT 50
