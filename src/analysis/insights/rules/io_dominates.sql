-- id: io-bound
-- severity: high
-- title: The run spends most of its time in I/O
-- says: Reading, writing and syncing took {time:ns}, {share:percent} of the run; {worst:text} alone took {part:percent}
-- gain: four fifths of I/O or of the rest, whichever is shorter, of the process with most I/O, if both went on at once
-- place: events where layer IN @io AND category IN ('read', 'write', 'sync') AND file = {worst:sql}
-- try: prefetch in another thread, write in the background, or use asynchronous I/O; 'fathom report TRACE files' shows which files
WITH data AS (  -- a thread does not pay for calls that take less than 10 us
  SELECT host, pid, file, self FROM io WHERE self > 10000 * calls
  UNION ALL SELECT host, pid, file, self FROM data_calls WHERE category = 'sync' AND self > 10000 * calls),
sums AS (SELECT sum(self) AS time FROM data),
worst AS (SELECT file, sum(self) AS time FROM data GROUP BY file ORDER BY time DESC, file LIMIT 1),
walls AS (SELECT least(s.time / p.at_once, t.wall) AS io, t.wall AS run FROM sums s, pace p, totals t),
busiest AS (SELECT host, pid, sum(self) AS io FROM data GROUP BY host, pid ORDER BY io DESC, pid LIMIT 1),
-- Where a thread of it is outside calls all the time, that is at once already.
outside AS (
  SELECT greatest(coalesce((SELECT sum(coalesce("end", l.run) - start) FROM threads h WHERE h.pid = b.pid AND h.host IS NOT DISTINCT FROM b.host), l.run)
                  - (SELECT sum(self) FROM summary s WHERE layer IN @own AND s.pid = b.pid AND s.host IS NOT DISTINCT FROM b.host), 0) AS time
  FROM busiest b, walls l)
SELECT CAST(s.time AS BIGINT) AS time, 100 * l.io / l.run AS share, w.file AS worst, 100 * l.io / l.run * w.time / s.time AS part,
       CAST(0.8 * greatest(least(b.io, o.time, l.run - o.time), 0) AS BIGINT) AS gain
FROM sums s, worst w, walls l, busiest b, outside o WHERE l.io > 0.4 * l.run AND s.time > 100000000
-- evidence:
SELECT file, category, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(bytes) AS BIGINT) AS bytes, CAST(sum(self) AS BIGINT) AS self FROM data_calls
WHERE category IN ('read', 'write', 'sync') GROUP BY ALL ORDER BY self DESC LIMIT 50
