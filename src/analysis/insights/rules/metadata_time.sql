-- id: metadata-time
-- severity: high
-- title: Metadata calls take much time
-- says: {calls:count metadata call} (open, close, stat, directories, renames) took {time:ns}, {share:percent} of the run; data calls took {data:ns}
-- gain: seven tenths of that time
-- place: events where layer IN @io AND category IN ('open', 'close', 'metadata', 'directory')
-- try: open files once and keep them open, list directories once, and store many small items in one file; most of it: {name:text}
WITH per_name AS (
  SELECT name, category IN ('open', 'close', 'metadata', 'directory') AS about, category IN ('read', 'write') AS moves,
         sum(calls) AS calls, sum(self) AS self FROM summary WHERE layer IN @io GROUP BY ALL),
sums AS (
  SELECT sum(calls) FILTER (about) AS calls, sum(self) FILTER (about) AS time, coalesce(sum(self) FILTER (moves), 0) AS data,
         arg_max(name, self) FILTER (about) AS name
  FROM per_name)
SELECT CAST(s.calls AS BIGINT) AS calls, CAST(s.time AS BIGINT) AS time, CAST(s.data AS BIGINT) AS data, s.name AS name,
       100 * least(s.time / p.at_once / t.wall, 1) AS share, CAST(0.7 * s.time / p.at_once AS BIGINT) AS gain
FROM sums s, totals t, pace p WHERE s.calls >= 1000 AND s.time / p.at_once > 0.1 * t.wall
-- evidence:
SELECT layer, name, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(errors) AS BIGINT) AS errors, CAST(sum(self) AS BIGINT) AS self FROM summary
WHERE layer IN @io AND category IN ('open', 'close', 'metadata', 'directory') GROUP BY ALL ORDER BY self DESC LIMIT 50
