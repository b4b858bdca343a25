-- id: shared-file-read-imbalance
-- severity: low
-- of: read, processes 2
-- title: One process does most reads of a shared file
-- says: Process {pid:text} read {share:percent} of the {bytes:bytes} that {processes:count process} read from {file:text}
-- gain: the share of its time for the bytes beyond an even part
-- place: events where layer IN @io AND category = 'read' AND file = {file:sql} AND host IS NOT DISTINCT FROM {host:sql} AND pid = {pid:sql}
-- try: let each process read its own part
WITH per_process AS (SELECT file, host, pid, sum(bytes) AS bytes, sum(self) AS time FROM io WHERE direction = 'read' GROUP BY ALL),
per_file AS (
  SELECT file, count(*) AS processes, sum(bytes) AS bytes, max(bytes) AS most, arg_max(host, bytes) AS host, arg_max(pid, bytes) AS pid, arg_max(time, bytes) AS time, avg(bytes) AS mean
  FROM per_process GROUP BY file)
SELECT file, host, pid, CAST(bytes AS BIGINT) AS bytes, f.processes AS processes, 100 * most / bytes AS share,
       CAST(least(time, t.wall) * (1 - mean / most) AS BIGINT) AS gain FROM per_file f, totals t
WHERE f.processes >= 2 AND bytes >= 1048576 AND most - mean > 0.3 * most ORDER BY most - mean DESC LIMIT 1
-- evidence:
SELECT file, host, pid, CAST(sum(bytes) AS BIGINT) AS bytes, CAST(sum(self) AS BIGINT) AS self FROM io WHERE direction = 'read'
AND file IN (SELECT file FROM io WHERE direction = 'read' GROUP BY file HAVING count(DISTINCT (host, pid)) > 1)
GROUP BY ALL ORDER BY file, bytes DESC LIMIT 50
