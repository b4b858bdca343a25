-- id: lock-contention
-- severity: medium
-- of: samples 5
-- title: Threads wait for a lock
-- says: {threads:count thread} waited {time:ns} for a lock ({name:text}), {waits:count time}; the longest waiting one {most:ns}, {share:percent} of the run{held:text}
-- gain: what the thread waited that waited longest
-- place: samples where event = 'off-cpu' AND host IS NOT DISTINCT FROM {host:sql} AND pid = {pid:sql} AND stack IN ({stacks:text})
-- try: hold the lock for less time (compute before you take it), use several locks, or give each thread data of its own
WITH mutexes AS (  -- who waits for a semaphore may wait for work
  SELECT host, pid, tid, name, sum("time") AS time, sum(waits) AS waits, flatten(list(stacks)) AS stacks FROM waits
  WHERE cause = 'lock' AND regexp_matches(call, '^(pthread_mutex_|pthread_rwlock_|mtx_|lll_lock_wait|runtime[.]lock|malloc$|calloc$|realloc$|free$)')
  GROUP BY host, pid, tid, name),
locks AS (
  SELECT host, pid, name, count(*) AS threads, sum(time) AS time, sum(waits) AS waits, max(time) AS most, flatten(list(stacks)) AS stacks
  FROM mutexes GROUP BY host, pid, name),
top AS (SELECT * FROM locks ORDER BY most DESC, name LIMIT 1),
fights AS (
  SELECT s.tid, s.ts, s.ts + s.weight AS stop, s.weight FROM samples s, top t
  WHERE s.event = 'off-cpu' AND s.pid = t.pid AND s.host IS NOT DISTINCT FROM t.host AND list_contains(t.stacks, s.stack)
  ORDER BY s.weight DESC LIMIT 500),
off AS (
  SELECT s.tid, s.ts, s.ts + s.weight AS stop, list_contains(t.stacks, s.stack) AS fights FROM samples s, top t
  WHERE s.event = 'off-cpu' AND s.pid = t.pid AND s.host IS NOT DISTINCT FROM t.host),
crew AS (
  SELECT t.tid, any_value(t.name) AS name, min(t.start) AS start, max(coalesce(t."end", 9e18)) AS "end" FROM threads t, top
  WHERE t.pid = top.pid AND t.host IS NOT DISTINCT FROM top.host GROUP BY t.tid),
others AS (  -- who slept all the time, or wanted the lock in the end, did not release it
  SELECT f.tid, f.ts, any_value(f.weight) AS weight, list(DISTINCT c.tid) AS who FROM fights f JOIN crew c ON c.tid <> f.tid AND c.start < f.stop AND c."end" > f.ts
  WHERE NOT EXISTS (SELECT 1 FROM off o WHERE o.tid = c.tid AND o.stop >= f.stop AND (o.ts <= f.ts OR (o.fights AND o.ts < f.stop)))
  GROUP BY f.tid, f.ts),
known AS (SELECT who[1] AS tid, sum(weight) AS time FROM others WHERE len(who) = 1 GROUP BY who[1]),
holder AS (
  SELECT coalesce(arg_max(c.name, k.time), '') AS name, arg_max(k.tid, k.time) AS tid, max(k.time) AS time, sum(k.time) AS every FROM known k JOIN crew c USING (tid)),
words AS (
  SELECT CASE WHEN h.time > 0.5 * f.time THEN '; thread ' || h.tid || coalesce(' (' || nullif(h.name, '') || ')', '') || ' held it most of that time'
              WHEN h.every > 0.5 * f.time THEN '; they held it in turns' ELSE '' END AS held
  FROM holder h, (SELECT coalesce(sum(weight), 0) AS time FROM fights) f),
queued AS (  -- who has the lock and no CPU keeps others waiting; that is not the lock's fault
  SELECT coalesce(sum(h.ready), 0) AS time FROM threads h, top t WHERE h.pid = t.pid AND h.host IS NOT DISTINCT FROM t.host)
SELECT t.threads AS threads, CAST(t.time AS BIGINT) AS time, t.name AS name, CAST(t.waits AS BIGINT) AS waits, CAST(t.most AS BIGINT) AS most,
       100 * t.most / r.wall AS share, w.held AS held, CAST(t.most AS BIGINT) AS gain,
       t.host AS host, t.pid AS pid, array_to_string(list_slice(list_distinct(t.stacks), 1, 100), ', ') AS stacks
FROM top t, words w, totals r, queued q WHERE t.time > q.time AND t.waits >= 5 AND t.most > 20000000 AND t.most > 0.1 * r.wall
-- evidence:
SELECT host, pid, tid, name, caller, "time", waits, longest FROM waits WHERE cause = 'lock' ORDER BY "time" DESC LIMIT 50
