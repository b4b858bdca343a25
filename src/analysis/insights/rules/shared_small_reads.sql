-- id: shared-file-small-reads
-- severity: medium
-- of: read 1000, processes 2
-- title: Small reads of shared files
-- says: {calls:count read} of less than 64 KiB went to {files:count file} that up to {processes:count process} read
-- gain: what these calls took beyond the copying of their bytes
-- place: events where layer = 'posix' AND category = 'read' AND bytes < 65536 AND file = {worst:sql}
-- try: let one process read and pass the data on, or give each worker large blocks of its own; worst file: {worst:text}
WITH shared AS (
  SELECT file, count(DISTINCT (host, pid)) AS processes, sum(small) AS few, sum(calls) AS calls,
         sum(small * greatest(typical - bytes / greatest(calls - errors, 1) / 8, 0)) AS gain FROM io
  WHERE direction = 'read' AND layer = 'posix' GROUP BY file HAVING count(DISTINCT (host, pid)) > 1),
sums AS (
  SELECT count(*) AS files, max(processes) AS processes, sum(few) AS calls, sum(calls) AS all_calls,
         sum(gain) AS gain, arg_max(file, few) AS worst FROM shared)
SELECT CAST(s.calls AS BIGINT) AS calls, s.files AS files, s.processes AS processes, s.worst AS worst, CAST(s.gain / p.at_once AS BIGINT) AS gain
FROM sums s, pace p WHERE s.calls >= 1000 AND s.calls > 0.1 * s.all_calls
-- evidence:
SELECT file, count(DISTINCT (host, pid)) AS processes, CAST(sum(calls) AS BIGINT) AS calls,
       CAST(sum(small) AS BIGINT) AS small, CAST(sum(self) AS BIGINT) AS self
FROM io WHERE direction = 'read' GROUP BY file HAVING count(DISTINCT (host, pid)) > 1 ORDER BY small DESC LIMIT 50
