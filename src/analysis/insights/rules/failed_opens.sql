-- id: failed-opens
-- severity: low
-- title: Many opens and stats that fail
-- says: {failed:count} of {calls:count} opens and stats fail ({share:percent}), {time:ns} in all: somebody searches for files along a path
-- gain: the time of the calls that fail
-- try: shorten search paths (PYTHONPATH, LD_LIBRARY_PATH, include paths), or ask for files where they are
WITH sums AS (
  SELECT sum(calls) AS calls, sum(errors) AS failed, sum(self * errors / calls) AS time FROM summary
  WHERE layer IN ('posix', 'stdio') AND (category = 'open' OR name IN ('stat', 'lstat', 'access', 'faccessat', 'fstatat', 'statx')))
SELECT CAST(calls AS BIGINT) AS calls, CAST(failed AS BIGINT) AS failed, 100 * failed / calls AS share, time, CAST(time AS BIGINT) AS gain FROM sums, totals t
WHERE failed >= 1000 AND failed > 0.3 * calls AND time > 0.01 * t.thread_time
-- evidence:
SELECT name, regexp_replace(file, '/[^/]*$', '') AS directory, CAST(sum(errors) AS BIGINT) AS failed, CAST(sum(calls) AS BIGINT) AS calls FROM summary
WHERE layer IN ('posix', 'stdio') AND errors > 0 AND file IS NOT NULL GROUP BY ALL ORDER BY failed DESC LIMIT 50
