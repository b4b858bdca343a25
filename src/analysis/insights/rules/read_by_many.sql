-- id: read-by-every-worker
-- severity: medium
-- of: read, processes 2
-- title: Several processes read the same files completely
-- says: Up to {processes:count process} read each of {files:count file}: {bytes:bytes} read from {extent:bytes} of data
-- gain: the share of read time spent on bytes that another process also read
-- place: events where layer IN @io AND category = 'read' AND file = {worst:sql}
-- try: read once and share (shared memory, a cache on the node), or give each worker its own files; worst file: {worst:text}
WITH per_file AS (
  SELECT file, count(DISTINCT (host, pid)) AS processes, sum(bytes) AS bytes, max(extent) AS extent, sum(self) AS time FROM io
  WHERE direction = 'read' AND extent > 0 AND placed > 0 GROUP BY file),
sums AS (
  SELECT count(*) AS files, max(processes) AS processes, sum(bytes) AS bytes, sum(extent) AS extent,
         sum(time * (bytes - extent) / bytes) AS time, arg_max(file, bytes - extent) AS worst
  FROM per_file WHERE processes >= 2 AND bytes >= 1.8 * extent)
SELECT s.files AS files, s.processes AS processes, CAST(s.bytes AS BIGINT) AS bytes, CAST(s.extent AS BIGINT) AS extent, s.worst AS worst,
       CAST(s.time / p.at_once AS BIGINT) AS gain
FROM sums s, pace p WHERE s.bytes >= 16777216
-- evidence:
SELECT file, count(DISTINCT (host, pid)) AS processes, CAST(sum(bytes) AS BIGINT) AS bytes, max(extent) AS extent, CAST(sum(self) AS BIGINT) AS self FROM io
WHERE direction = 'read' AND extent > 0 AND placed > 0 GROUP BY file HAVING count(DISTINCT (host, pid)) >= 2 AND sum(bytes) >= 1.8 * max(extent)
ORDER BY sum(bytes) - max(extent) DESC LIMIT 50
