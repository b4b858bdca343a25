-- id: lock-waits
-- severity: medium
-- of: lock 100
-- title: Processes wait for file locks
-- says: {processes:count process} waited {time:ns} in {calls:count call} that lock files, the longest waiting one {most:ns}
-- gain: the time that the process waited which waited longest
-- place: events where layer IN @io AND category = 'lock'
-- try: lock a smaller part of the file, hold the lock for less time, or give each process a file of its own
WITH per_process AS (
  SELECT host, pid, sum(calls) AS calls, sum(self) AS time FROM summary WHERE layer IN @io AND category = 'lock' GROUP BY host, pid),
sums AS (SELECT count(*) AS processes, sum(calls) AS calls, sum(time) AS time, max(time) AS most FROM per_process WHERE time > 0)
SELECT s.processes AS processes, CAST(calls AS BIGINT) AS calls, CAST(time AS BIGINT) AS time, CAST(most AS BIGINT) AS most, CAST(most AS BIGINT) AS gain
FROM sums s, totals t WHERE calls >= 100 AND most > 0.03 * t.wall
-- evidence:
SELECT host, pid, name, file, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(self) AS BIGINT) AS self, max(dur_max) AS longest FROM summary
WHERE layer IN @io AND category = 'lock' GROUP BY ALL ORDER BY self DESC LIMIT 50
