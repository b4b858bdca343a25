-- id: checkpoint-stalls
-- severity: high
-- of: write
-- title: The program stops while it writes checkpoints
-- says: The program did little but write for {time:ns} ({share:percent} of the run), at {rate:bytes} per second, in {times:count burst}
-- gain: that time, if checkpoints were written while the program computes
-- place: events where layer IN @io AND category = 'write'
-- try: copy the state and write it from another thread or process; write checkpoints less often, or make them smaller
WITH cells AS (
  SELECT ts, any_value(width) AS width, sum(busy) FILTER (layer IN @io) AS io, sum(bytes) FILTER (layer IN @io) AS bytes
  FROM timeline GROUP BY ts),
writing AS (
  SELECT ts, width, bytes, ts - lag(ts) OVER (ORDER BY ts) > width OR lag(ts) OVER (ORDER BY ts) IS NULL AS starts FROM cells
  WHERE io > 0.7 * width AND bytes > 0),
sums AS (SELECT sum(width) AS time, sum(bytes) AS bytes, count(*) FILTER (starts) AS times FROM writing),
kinds AS (SELECT coalesce(sum(bytes) FILTER (direction = 'write'), 0) AS written, sum(bytes) AS every FROM io)
SELECT CAST(s.time AS BIGINT) AS time, 100 * s.time / t.wall AS share, s.bytes * 1e9 / s.time AS rate, s.times AS times, CAST(s.time AS BIGINT) AS gain
FROM sums s, kinds k, totals t
WHERE s.times >= 2 AND s.time / s.times >= 50000000 AND s.time > 0.05 * t.wall AND s.time < 0.6 * t.wall AND s.bytes >= 16777216 AND k.written > 0.7 * k.every
-- evidence:
SELECT ts, width, layer, busy, calls, bytes FROM timeline WHERE layer IN @io AND busy > 0.7 * width AND bytes > 0 ORDER BY ts LIMIT 50
