-- id: children-in-turn
-- severity: medium
-- of: samples 100, processes 20
-- title: Child processes run one after another
-- says: Process {pid:text} ({program:text}) waited {time:ns}, {share:percent} of the run, for {children:count child process} that ran one after another
-- gain: half of that, if two ran at a time
-- place: samples where event = 'off-cpu' AND host IS NOT DISTINCT FROM {host:sql} AND pid = {pid:sql}
-- try: run several at once (make -j, xargs -P), unless one needs what another has made
WITH waiting AS (
  SELECT host, pid, sum("time") AS time FROM waits WHERE cause = 'child' AND call <> 'vfork' GROUP BY host, pid),
lives AS (SELECT host, pid, any_value(ppid) AS parent, max("end") - min(start) AS life FROM processes WHERE "end" IS NOT NULL GROUP BY host, pid),
ran AS (SELECT host, pid, sum(weight) AS cpu FROM samples WHERE event = 'cpu-clock' GROUP BY host, pid),
children AS (
  SELECT l.host, l.parent AS pid, count(*) AS children, sum(l.life) AS life, sum(coalesce(r.cpu, 0)) AS cpu
  FROM lives l LEFT JOIN ran r ON r.pid = l.pid AND r.host IS NOT DISTINCT FROM l.host GROUP BY l.host, l.parent),
top AS (
  SELECT w.host, w.pid, w.time, c.children, c.life, c.cpu FROM waiting w JOIN children c ON c.pid = w.pid AND c.host IS NOT DISTINCT FROM w.host
  ORDER BY w.time DESC LIMIT 1),
cores AS (SELECT max(TRY_CAST(value AS BIGINT)) AS cores FROM run WHERE key LIKE '%host.cores')
SELECT t.host AS host, t.pid AS pid, (SELECT arg_max(p.name, p.start) FROM processes p WHERE p.pid = t.pid AND p.host IS NOT DISTINCT FROM t.host) AS program,
       CAST(t.time AS BIGINT) AS time, 100 * t.time / r.wall AS share, t.children AS children, CAST(t.time / 2 AS BIGINT) AS gain
FROM top t, totals r, machine m, cores c
WHERE t.children >= 20 AND t.time > 0.5 * r.wall AND t.life < 1.3 * t.time AND t.cpu > 0.5 * t.time AND NOT m.crowded AND coalesce(c.cores, 1) >= 2
-- evidence:
SELECT name, any_value(command) AS command, count(*) AS processes, avg("end" - start) AS life FROM processes WHERE ppid IS NOT NULL
GROUP BY name ORDER BY processes DESC LIMIT 50
