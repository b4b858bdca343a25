-- id: slow-outliers
-- severity: medium
-- title: A few calls take most of the time
-- says: The slowest {few:count} of {calls:count} calls to {name:text} took {share:percent} of its time; the longest took {longest:ns}
-- gain: what they took beyond a typical call
-- place: events where layer IN @io AND name = {name:sql} AND dur >= {longest:sql} / 2
-- try: see when they happen (fathom sql TRACE "SELECT ts, dur, file FROM events WHERE name = '{name:text}' ORDER BY dur DESC LIMIT 20"): writeback, a lock, or a cold cache
WITH buckets AS (
  SELECT name, unnest(hist) AS n, generate_subscripts(hist, 1) - 1 AS b FROM summary WHERE layer IN @io AND category NOT IN ('wait', 'process', 'lock')
    AND NOT (layer = 'stdio' AND category IN ('read', 'write'))),  -- each fills or empties its buffer now and then
per_bucket AS (SELECT name, b, sum(n) AS n, sum(n) * 1.5 * pow(2, b) AS time FROM buckets WHERE n > 0 AND b < 60 GROUP BY name, b),
ranked AS (
  SELECT name, b, n, time, sum(n) OVER (PARTITION BY name ORDER BY b DESC) AS slower, sum(time) OVER (PARTITION BY name ORDER BY b DESC) AS taken,
         sum(n) OVER (PARTITION BY name) AS calls, sum(time) OVER (PARTITION BY name) AS every FROM per_bucket),
worst AS (
  SELECT name, max(slower) AS few, max(taken) AS taken, any_value(calls) AS calls, any_value(every) AS every FROM ranked
  WHERE slower <= 0.01 * calls GROUP BY name),
-- On a busy machine, or where threads waited for a CPU, such calls were only interrupted.
ready AS (SELECT coalesce(sum(dur), 0) AS time FROM summary WHERE layer = 'sched' AND name = 'runqueue'),
longest AS (SELECT name, max(dur_max) AS longest, sum(self) AS time FROM summary WHERE layer IN @io GROUP BY name)
SELECT w.name AS name, CAST(w.few AS BIGINT) AS few, CAST(w.calls AS BIGINT) AS calls, 100 * w.taken / w.every AS share, l.longest AS longest,
       CAST(l.time / p.at_once * w.taken / w.every * (1 - w.few / w.calls) AS BIGINT) AS gain
FROM worst w JOIN longest l USING (name), ready r, machine m, pace p
WHERE w.calls >= 1000 AND w.taken > 0.5 * w.every AND NOT m.crowded AND r.time < 0.5 * l.time * w.taken / w.every ORDER BY l.time * w.taken / w.every DESC LIMIT 1
-- evidence:
SELECT layer, name, file, calls, dur_max AS longest, self // calls AS usual, self FROM summary WHERE layer IN @io
AND category NOT IN ('wait', 'process', 'lock') AND calls > 0 ORDER BY dur_max DESC LIMIT 50
