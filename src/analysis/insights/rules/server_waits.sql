-- id: waits-for-server
-- severity: medium
-- of: samples 100
-- title: The program asks a server one question at a time
-- says: Thread {tid:text} waited {waits:count time} for {object:text}: {time:ns}, {share:percent} of the run, {each:ns} each time
-- gain: half of that, with two questions at a time
-- place: samples where event = 'off-cpu' AND host IS NOT DISTINCT FROM {host:sql} AND pid = {pid:sql} AND tid = {tid:sql}
-- try: send several requests before you wait for the first answer (pipelining, batches), use more connections, or keep answers
WITH clients AS (  -- a server's peers have ports that the kernel chose, or no path
  SELECT host, pid, tid, object, sum("time") AS time, sum(waits) AS waits FROM waits
  WHERE cause IN ('socket', 'poll') AND (starts_with(object, 'socket /') OR starts_with(object, 'socket @')
    OR TRY_CAST(regexp_extract(object, '^socket [0-9a-f.:\[\]]+:([0-9]+)$', 1) AS BIGINT) < 32768)
  GROUP BY host, pid, tid, object),
top AS (SELECT * FROM clients WHERE waits >= 100 ORDER BY time DESC, tid LIMIT 1)
SELECT t.host AS host, t.pid AS pid, t.tid AS tid, CAST(t.waits AS BIGINT) AS waits, t.object AS object, CAST(t.time AS BIGINT) AS time, 100 * t.time / r.wall AS share,
       t.time / t.waits AS each, CAST(t.time / 2 AS BIGINT) AS gain
FROM top t, totals r WHERE t.time > 0.5 * r.wall
-- evidence:
SELECT host, pid, tid, cause, name, "time", waits, longest FROM waits WHERE starts_with(object, 'socket') ORDER BY "time" DESC LIMIT 50
