-- id: repeated-stat
-- severity: medium
-- of: metadata 1000
-- title: The same files are looked up again and again
-- says: {calls:count stat or access call} asked about {files:count file}{per_file:text} and took {time:ns}, {share:percent} of the run
-- gain: all but the first call for each file
-- place: events where layer IN @io AND file = {worst:sql}
--   AND name IN ('stat', 'lstat', 'stat64', 'lstat64', 'fstatat', 'fstatat64', 'statx', 'access', 'faccessat', 'euidaccess')
-- try: keep what stat said, list the directory once, or watch it (inotify); worst file: {worst:text}
WITH per_process AS (
  SELECT host, file, pid, sum(calls) AS calls, sum(self) AS time FROM data_calls
  WHERE name IN ('stat', 'lstat', 'stat64', 'lstat64', 'fstatat', 'fstatat64', 'statx', 'access', 'faccessat', 'euidaccess') GROUP BY ALL),
sums AS (
  SELECT count(DISTINCT file) AS files, sum(calls) AS calls, sum(time) AS time, sum(time * (calls - 1) / calls) AS spare FROM per_process WHERE calls >= 10),
worst AS (SELECT file FROM per_process WHERE calls >= 10 GROUP BY file ORDER BY sum(calls) DESC, file LIMIT 1)
SELECT s.files AS files, if(s.files > 1, format(' ({:.0f} per file on average)', s.calls / s.files), '') AS per_file, CAST(s.calls AS BIGINT) AS calls, CAST(s.time AS BIGINT) AS time,
       100 * least(s.time / p.at_once / t.wall, 1) AS share, w.file AS worst, CAST(s.spare / p.at_once AS BIGINT) AS gain
FROM sums s, worst w, totals t, pace p WHERE s.calls >= 1000
-- evidence:
SELECT file, pid, name, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(self) AS BIGINT) AS self FROM data_calls
WHERE category = 'metadata' GROUP BY ALL ORDER BY calls DESC LIMIT 50
