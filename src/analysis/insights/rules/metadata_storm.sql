-- id: metadata-storm
-- severity: low
-- of: posix 20000
-- title: Many metadata calls at once
-- says: {rate:count metadata call} per second on average (open, stat, directories), {calls:count} in all, for {data:count data call}
-- place: events where layer = 'posix' AND category IN ('open', 'metadata', 'directory')
-- try: cache stat results, list directories once, and keep files open; on a shared file system all users depend on one metadata server
WITH about AS (
  SELECT sum(calls) AS calls, sum(self) AS time, max("last") - min("first") AS span FROM summary
  WHERE layer = 'posix' AND category IN ('open', 'metadata', 'directory')),
data AS (SELECT coalesce(sum(calls), 0) AS calls FROM io)
SELECT CAST(a.calls AS BIGINT) AS calls, CAST(d.calls AS BIGINT) AS data, a.calls * 1e9 / greatest(a.span, 1e8) AS rate
FROM about a, data d, totals t, pace p WHERE a.time / p.at_once > 0.05 * t.wall AND a.calls >= 20000 AND a.calls > 3 * d.calls AND a.calls * 1e9 / greatest(a.span, 1e8) > 10000
-- evidence:
SELECT name, regexp_replace(file, '/[^/]*$', '') AS directory, count(DISTINCT file) AS files, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(self) AS BIGINT) AS self
FROM summary WHERE layer = 'posix' AND category IN ('open', 'metadata', 'directory') GROUP BY ALL ORDER BY calls DESC LIMIT 50
