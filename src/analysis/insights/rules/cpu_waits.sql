-- id: waits-for-cpu
-- severity: medium
-- title: Threads wait for a CPU
-- says: Threads that could run waited {time:ns} for a CPU; {whose:text} of process {pid:text} waited {most:ns}{average:text}
-- gain: what a thread of that process waited on average
-- place: {told:text} AND host IS NOT DISTINCT FROM {host:sql} AND pid = {pid:sql}
-- try: start no more threads than there are CPUs (OMP_NUM_THREADS, workers), raise the limit of the container, or move other work away
WITH told AS (  -- layers sched and cpu tell the same
  SELECT host, pid, sum(dur) AS time FROM summary WHERE layer = 'sched' AND name = 'runqueue' GROUP BY host, pid
  UNION ALL SELECT host, pid, sum(ready) FROM threads WHERE ready IS NOT NULL GROUP BY host, pid),
per_process AS (SELECT host, pid, max(time) AS time FROM told GROUP BY host, pid),
lives AS (SELECT host, pid, count(DISTINCT tid) AS threads FROM threads GROUP BY host, pid),
each AS (
  SELECT w.host, w.pid, w.time, l.threads, w.time / greatest(coalesce(l.threads, 1), 1) AS most
  FROM per_process w LEFT JOIN lives l ON l.pid = w.pid AND l.host IS NOT DISTINCT FROM w.host)
SELECT CAST(sum(e.time) AS BIGINT) AS time, arg_max(e.host, e.most) AS host, arg_max(e.pid, e.most) AS pid, CAST(max(e.most) AS BIGINT) AS most, CAST(max(e.most) AS BIGINT) AS gain,
       if(arg_max(coalesce(e.threads, 0), e.most) = 1, 'the thread', 'those') AS whose,
       if(arg_max(coalesce(e.threads, 0), e.most) = 1, '', ' each on average') AS average,
       (SELECT if(count(*) > 0, 'events where layer = ''sched'' AND name = ''runqueue''', 'samples where ready > 0')
        FROM summary WHERE layer = 'sched' AND name = 'runqueue') AS told
FROM each e, totals t HAVING max(e.most) > 0.1 * any_value(t.wall) AND max(e.most) > 100000000
-- evidence:
SELECT * FROM (
  SELECT 'sched' AS layer, host, pid, NULL AS tid, calls, dur AS time FROM summary WHERE layer = 'sched' AND name = 'runqueue'
  UNION ALL SELECT 'cpu', host, pid, tid, NULL, ready FROM threads WHERE ready > 0) ORDER BY time DESC LIMIT 50
