-- id: open-close-churn
-- severity: medium
-- title: The same files are opened again and again
-- says: the program opened {files:count file} {times:count time} each on average, {opens:count open} in all; opening and closing took {time:ns}
-- gain: all but the first open and close of each file
-- try: keep the file open; worst file: {worst:text}
WITH per_file AS (
  SELECT file, pid, sum(calls - errors) FILTER (category = 'open') AS opens, sum(self) AS time FROM summary
  WHERE layer IN @io AND category IN ('open', 'close') AND file LIKE '/%' AND NOT starts_with(file, '/proc/')
    AND NOT starts_with(file, '/dev/') AND NOT starts_with(file, '/sys/') GROUP BY ALL),
sums AS (
  SELECT count(DISTINCT file) AS files, sum(opens) AS opens, sum(time) AS time, sum(time * (opens - 1) / opens) AS spare,
         arg_max(file, opens) AS worst FROM per_file WHERE opens >= 10)
SELECT s.files AS files, s.opens / s.files AS times, CAST(s.opens AS BIGINT) AS opens, CAST(s.time AS BIGINT) AS time, s.worst AS worst, CAST(s.spare AS BIGINT) AS gain
FROM sums s, totals t WHERE s.opens >= 1000 AND s.time > 0.02 * t.thread_time
-- evidence:
SELECT file, pid, CAST(sum(calls) FILTER (category = 'open') AS BIGINT) AS opens, CAST(sum(self) AS BIGINT) AS self FROM summary
WHERE layer IN @io AND category IN ('open', 'close') AND file IS NOT NULL GROUP BY ALL
HAVING sum(calls) FILTER (category = 'open') >= 10 ORDER BY opens DESC LIMIT 50
