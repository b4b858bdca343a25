-- id: process-storm
-- severity: low
-- of: processes 200
-- title: Many short processes
-- says: {processes:count process} lived for {life:ns} on average; starting one costs about a millisecond and reads its libraries again
-- gain: the calls that started them, and up to a millisecond of each
-- place: processes where "end" - start < 100000000
-- try: do the work in one process, or keep workers (a pool, xargs with more arguments per call)
WITH lives AS (SELECT host, pid, max("end") - min(start) AS life FROM processes WHERE "end" IS NOT NULL AND start IS NOT NULL GROUP BY host, pid),
sums AS (SELECT count(*) AS processes, avg(life) AS life, sum(life) AS every, sum(least(life, 1000000)) AS starts FROM lives WHERE life < 100000000),
starting AS (  -- as if each parent had started as many
  SELECT coalesce(sum(self) / count(DISTINCT (host, pid)), 0) AS time FROM summary
  WHERE layer IN @io AND name IN ('fork', 'vfork', 'posix_spawn', 'posix_spawnp'))
SELECT s.processes AS processes, s.life AS life, CAST(s.starts / greatest(s.every / t.wall, 1) + b.time AS BIGINT) AS gain
FROM sums s, starting b, totals t
WHERE s.processes >= 200 AND s.every > 0.2 * t.wall
-- evidence:
SELECT name, any_value(command) AS command, count(*) AS processes, avg("end" - start) AS life FROM processes WHERE "end" - start < 100000000
GROUP BY name ORDER BY processes DESC LIMIT 50
