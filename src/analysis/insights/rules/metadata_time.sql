-- id: metadata-time
-- severity: high
-- title: Metadata calls take much time
-- says: {calls:count metadata call} (open, close, stat, directories, renames) took {time:ns}, {share:percent} of the threads' time; data calls took {data:ns}
-- gain: half of that time
-- try: open files once and keep them open, list directories once, and store many small items in one file; most of it: {name:text}
WITH sums AS (
  SELECT sum(calls) FILTER (about) AS calls, sum(self) FILTER (about) AS time,
         coalesce(sum(self) FILTER (category IN ('read', 'write')), 0) AS data,
         arg_max(name, self) FILTER (about) AS name
  FROM (SELECT *, category IN ('open', 'close', 'metadata', 'directory') AS about FROM summary
        WHERE layer IN @io))
SELECT CAST(s.calls AS BIGINT) AS calls, CAST(s.time AS BIGINT) AS time, CAST(s.data AS BIGINT) AS data, s.name AS name,
       100 * s.time / t.thread_time AS share, CAST(s.time / 2 AS BIGINT) AS gain
FROM sums s, totals t WHERE s.calls >= 1000 AND s.time > 0.1 * t.thread_time
-- evidence:
SELECT layer, name, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(errors) AS BIGINT) AS errors, CAST(sum(self) AS BIGINT) AS self FROM summary
WHERE layer IN @io AND category IN ('open', 'close', 'metadata', 'directory') GROUP BY ALL ORDER BY self DESC LIMIT 50
