-- id: shared-file-small-writes
-- severity: high
-- of: write 1000, processes 2
-- title: Small writes to shared files
-- says: {calls:count write} of less than 64 KiB went to {files:count file} that up to {processes:count process} write, so they wait for each other's locks
-- gain: what these calls took beyond the copying of their bytes
-- place: events where layer = 'posix' AND category = 'write' AND bytes < 65536 AND file = {worst:sql}
-- try: use one file per process, or one writer that collects the data; worst file: {worst:text}
WITH shared AS (
  SELECT file, count(DISTINCT (host, pid)) AS processes, sum(small) AS few, sum(calls) AS calls,
         sum(small * greatest(typical - bytes / greatest(calls - errors, 1) / 8, 0)) AS gain FROM io
  WHERE direction = 'write' AND layer = 'posix' GROUP BY file HAVING count(DISTINCT (host, pid)) > 1),
sums AS (
  SELECT count(*) AS files, max(processes) AS processes, sum(few) AS calls, sum(calls) AS all_calls,
         sum(gain) AS gain, arg_max(file, few) AS worst FROM shared)
SELECT CAST(s.calls AS BIGINT) AS calls, s.files AS files, s.processes AS processes, s.worst AS worst, CAST(s.gain / p.at_once AS BIGINT) AS gain
FROM sums s, pace p WHERE s.calls >= 1000 AND s.calls > 0.1 * s.all_calls
-- evidence:
SELECT file, count(DISTINCT (host, pid)) AS processes, CAST(sum(calls) AS BIGINT) AS calls,
       CAST(sum(small) AS BIGINT) AS small, CAST(sum(self) AS BIGINT) AS self
FROM io WHERE direction = 'write' GROUP BY file HAVING count(DISTINCT (host, pid)) > 1 ORDER BY small DESC LIMIT 50
