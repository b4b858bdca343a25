-- id: computing-waits-for-reads
-- severity: high
-- of: read 1000
-- title: CPUs idle while threads wait for small reads
-- says: Reads smaller than 64 KiB took {share:percent} of the run; the processes used {cpu:percent} of one CPU on average, and the machine was {busy:percent} busy
-- gain: half of the time of the small reads, with twice as many readers
-- place: events where layer IN @io AND category = 'read' AND bytes < 65536
-- try: use more reader threads or DataLoader workers, prefetch, or store larger records; worst file: {worst:text}
WITH cpu AS (
  SELECT host, pid, max(value) - min(value) AS seconds FROM counters
  WHERE layer = 'resource' AND name IN ('cpu_user', 'cpu_system') AND pid IS NOT NULL GROUP BY host, pid, name),
used AS (SELECT sum(seconds) AS seconds FROM cpu),
small AS (
  SELECT file, sum(small_time) AS time, sum(small) AS calls FROM io
  WHERE direction = 'read' AND sizes IS NOT NULL AND calls > 0 GROUP BY file),
sums AS (SELECT sum(time) AS time, sum(calls) AS calls, arg_max(file, time) AS worst FROM small)
SELECT 100 * least(s.time / p.at_once / t.wall, 1) AS share, 100 * u.seconds * 1e9 / t.wall AS cpu, m.busy AS busy, s.worst AS worst,
       CAST(s.time / p.at_once / 2 AS BIGINT) AS gain
FROM sums s, used u, machine m, totals t, pace p
WHERE s.calls >= 1000 AND s.time / p.at_once > 0.3 * t.wall AND u.seconds * 1e9 < 0.6 * t.wall AND m.busy < 70 AND t.wall > 1000000000
-- evidence:
SELECT file, layer, name, calls, small, self FROM io WHERE direction = 'read' AND small > 0
ORDER BY self DESC LIMIT 50
