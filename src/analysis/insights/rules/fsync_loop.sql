-- id: sync-in-a-loop
-- severity: high
-- of: sync 100
-- title: fsync is called in a loop
-- says: {calls:count fsync or fdatasync call} took {time:ns}, {share:percent} of the run, with {between:bytes} written between two of them
-- gain: nine of ten of these calls
-- place: events where layer = 'posix' AND name IN ('fsync', 'fdatasync', 'sync_file_range', 'syncfs', 'sync')
-- try: sync once after several writes, or at the end; if each record must be durable, use O_DSYNC or a journal; worst file: {worst:text}
WITH per_file AS (
  SELECT file, sum(calls) AS calls, sum(self) AS self FROM summary
  WHERE layer = 'posix' AND category = 'sync' AND name IN ('fsync', 'fdatasync', 'sync_file_range', 'syncfs', 'sync') GROUP BY file),
syncs AS (SELECT sum(calls) AS calls, sum(self) AS time, arg_max(file, self) AS worst FROM per_file),
written AS (SELECT coalesce(sum(bytes), 0) AS bytes FROM io WHERE direction = 'write')
SELECT CAST(s.calls AS BIGINT) AS calls, CAST(s.time AS BIGINT) AS time, 100 * least(s.time / p.at_once / t.wall, 1) AS share, s.worst AS worst,
       w.bytes / s.calls AS between, CAST(0.9 * s.time / p.at_once AS BIGINT) AS gain
FROM syncs s, written w, totals t, pace p WHERE s.calls >= 100 AND w.bytes / s.calls < 16777216
-- evidence:
SELECT file, name, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(self) AS BIGINT) AS self, max(dur_max) AS longest FROM summary
WHERE layer = 'posix' AND category = 'sync' GROUP BY ALL ORDER BY self DESC LIMIT 50
