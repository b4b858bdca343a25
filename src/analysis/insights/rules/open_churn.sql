-- id: open-close-churn
-- severity: medium
-- of: open 1000
-- title: The same files are opened again and again
-- says: The program opened {files:count file} {opens:count time}{per_file:text}; opening and closing took {time:ns}
-- gain: all but the first open and close of each file
-- place: events where layer IN @io AND category IN ('open', 'close') AND file = {worst:sql}
-- try: keep the file open; worst file: {worst:text}
WITH per_process AS (
  SELECT host, file, pid, sum(calls - errors) FILTER (category = 'open') AS opens, sum(self) AS time FROM data_calls
  WHERE category IN ('open', 'close') GROUP BY ALL),
sums AS (
  SELECT count(DISTINCT file) AS files, sum(opens) AS opens, sum(time) AS time, sum(time * (opens - 1) / opens) AS spare FROM per_process WHERE opens >= 10),
worst AS (SELECT file FROM per_process WHERE opens >= 10 GROUP BY file ORDER BY sum(opens) DESC, file LIMIT 1)
SELECT s.files AS files, if(s.files > 1, format(' ({:.0f} times per file on average)', s.opens / s.files), '') AS per_file, CAST(s.opens AS BIGINT) AS opens, CAST(s.time AS BIGINT) AS time, w.file AS worst, CAST(s.spare / p.at_once AS BIGINT) AS gain
FROM sums s, worst w, pace p WHERE s.opens >= 1000
-- evidence:
SELECT file, pid, CAST(sum(calls) FILTER (category = 'open') AS BIGINT) AS opens, CAST(sum(self) AS BIGINT) AS self FROM data_calls
WHERE category IN ('open', 'close') GROUP BY ALL
HAVING sum(calls) FILTER (category = 'open') >= 10 ORDER BY opens DESC LIMIT 50
