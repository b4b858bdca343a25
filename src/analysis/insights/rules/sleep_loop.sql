-- id: sleep-in-a-loop
-- severity: low
-- of: samples 50
-- title: A thread sleeps in a loop
-- says: {name:text} slept {waits:count time}, {each:ns} on average: {time:ns}, {share:percent} of the run, while its process used {cpu:percent} of a CPU
-- place: samples where event = 'off-cpu' AND host IS NOT DISTINCT FROM {host:sql} AND pid = {pid:sql} AND tid = {tid:sql}
-- try: wait for what it looks for (a condition variable, poll, waitpid, inotify) instead of looking again and again
WITH sleeps AS (
  SELECT host, pid, tid, name, sum("time") AS time, sum(waits) AS waits FROM waits
  WHERE cause = 'sleep' AND NOT starts_with(coalesce(caller, ''), 'runtime.') GROUP BY host, pid, tid, name),
top AS (SELECT * FROM sleeps WHERE waits >= 50 AND time / waits <= 50000000 ORDER BY time DESC, tid LIMIT 1),
ran AS (
  SELECT coalesce(sum(s.weight), 0) AS cpu FROM samples s, top t
  WHERE s.event = 'cpu-clock' AND s.pid = t.pid AND s.host IS NOT DISTINCT FROM t.host)
SELECT t.host AS host, t.pid AS pid, t.tid AS tid, t.name AS name, CAST(t.waits AS BIGINT) AS waits, t.time / t.waits AS each, CAST(t.time AS BIGINT) AS time, 100 * t.time / r.wall AS share,
       100 * a.cpu / r.wall AS cpu
FROM top t, ran a, totals r WHERE t.time > 0.3 * r.wall AND a.cpu < 0.5 * r.wall
-- evidence:
SELECT host, pid, tid, name, caller, "time", waits, longest FROM waits WHERE cause = 'sleep' ORDER BY "time" DESC LIMIT 50
