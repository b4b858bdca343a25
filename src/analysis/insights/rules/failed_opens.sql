-- id: failed-opens
-- severity: low
-- of: posix 1000
-- title: Many open and stat calls fail
-- says: {failed:count} of {calls:count} open and stat calls failed ({share:percent}) and took {time:ns}: something searches for files along a path
-- gain: the time of the failed calls
-- place: events where layer IN @io AND error IS NOT NULL AND (category = 'open' OR name IN ('stat', 'lstat', 'access', 'faccessat', 'fstatat', 'statx'))
-- try: shorten search paths (PYTHONPATH, LD_LIBRARY_PATH, include paths), or name files by their full path
WITH sums AS (
  SELECT sum(calls) AS calls, sum(errors) AS failed, sum(self * errors / calls) AS time FROM summary
  WHERE layer IN @io AND (category = 'open' OR name IN ('stat', 'lstat', 'access', 'faccessat', 'fstatat', 'statx')))
SELECT CAST(calls AS BIGINT) AS calls, CAST(failed AS BIGINT) AS failed, 100 * failed / calls AS share, time, CAST(time / p.at_once AS BIGINT) AS gain FROM sums, pace p
WHERE failed >= 1000 AND failed > 0.3 * calls
-- evidence:
SELECT name, regexp_replace(file, '/[^/]*$', '') AS directory, CAST(sum(errors) AS BIGINT) AS failed, CAST(sum(calls) AS BIGINT) AS calls FROM summary
WHERE layer IN @io AND errors > 0 AND file IS NOT NULL GROUP BY ALL ORDER BY failed DESC LIMIT 50
