-- id: memory-growth
-- severity: medium
-- title: Memory keeps growing
-- says: Process {pid:text} grew steadily from {from:bytes} to {to:bytes}, by {rate:bytes} per second
-- place: view resources
-- try: look for a list or cache that is never emptied, or for tensors that keep their history
WITH rss AS (
  SELECT host, pid, ts, value, row_number() OVER (PARTITION BY host, pid ORDER BY ts) AS r, count(*) OVER (PARTITION BY host, pid) AS n
  FROM counters WHERE layer = 'resource' AND name = 'rss' AND pid IS NOT NULL),
late AS (SELECT * FROM rss WHERE r > n / 4 AND n >= 20),
fits AS (
  SELECT host, pid, regr_slope(value, ts) * 1e9 AS rate, regr_r2(value, ts) AS fit, min(value) AS low, max(value) AS high,
         arg_min(value, ts) AS first, arg_max(value, ts) AS last FROM late GROUP BY host, pid)
SELECT pid, first AS "from", last AS "to", rate FROM fits
WHERE fit > 0.9 AND last > 1.3 * first AND last - first > 67108864 ORDER BY last - first DESC LIMIT 1
-- evidence:
SELECT host, pid, ts, value AS rss FROM counters WHERE layer = 'resource' AND name = 'rss' AND pid IS NOT NULL ORDER BY host, pid, ts LIMIT 200
