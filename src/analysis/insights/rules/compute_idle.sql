-- id: computing-waits-for-reads
-- severity: high
-- title: CPUs idle while threads wait for small reads
-- says: reads smaller than 64 KiB took {share:percent} of the threads' time; the processes used {cpu:percent} of one CPU on average
-- gain: the time of the small reads
-- try: use more reader threads or DataLoader workers, prefetch, or store larger records; worst file: {worst:text}
WITH cpu AS (
  SELECT host, pid, max(value) - min(value) AS seconds FROM counters
  WHERE layer = 'resource' AND name IN ('cpu_user', 'cpu_system') AND pid IS NOT NULL GROUP BY host, pid, name),
used AS (SELECT sum(seconds) AS seconds FROM cpu),
small AS (
  SELECT sum(self * small / calls) AS time, sum(small) AS calls, arg_max(file, self) AS worst FROM io
  WHERE direction = 'read' AND sizes IS NOT NULL)
SELECT 100 * s.time / t.thread_time AS share, 100 * u.seconds * 1e9 / t.wall AS cpu, s.worst AS worst, CAST(s.time AS BIGINT) AS gain
FROM small s, used u, totals t
WHERE s.calls >= 1000 AND s.time > 0.3 * t.thread_time AND u.seconds * 1e9 < 0.6 * t.wall AND t.wall > 1000000000
-- evidence:
SELECT file, layer, name, calls, small, self FROM io WHERE direction = 'read' AND small > 0
ORDER BY self DESC LIMIT 50
