-- id: io-bound
-- severity: high
-- title: The run spends most of its time in I/O
-- says: reading, writing and syncing took {time:ns}, {share:percent} of the threads' time; {worst:text} alone took {part:percent}
-- gain: half of it, if I/O overlapped computation
-- try: prefetch in another thread, write in the background, or use asynchronous I/O; 'fathom report TRACE files' shows which files
WITH sums AS (
  SELECT sum(self) AS time FROM summary
  WHERE layer IN @io AND category IN ('read', 'write', 'sync') AND file LIKE '/%'),
worst AS (
  SELECT file, sum(self) AS time FROM summary WHERE layer IN @io AND category IN ('read', 'write', 'sync') AND file LIKE '/%'
  GROUP BY file ORDER BY time DESC, file LIMIT 1)
SELECT CAST(s.time AS BIGINT) AS time, 100 * s.time / t.thread_time AS share, w.file AS worst, 100 * w.time / t.thread_time AS part,
       CAST(s.time / 2 AS BIGINT) AS gain
FROM sums s, worst w, totals t WHERE s.time > 0.5 * t.thread_time AND s.time > 100000000
-- evidence:
SELECT file, category, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(bytes) AS BIGINT) AS bytes, CAST(sum(self) AS BIGINT) AS self FROM summary
WHERE layer IN @io AND category IN ('read', 'write', 'sync') AND file LIKE '/%' GROUP BY ALL ORDER BY self DESC LIMIT 50
