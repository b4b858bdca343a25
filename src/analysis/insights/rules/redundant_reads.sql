-- id: read-again
-- severity: high
-- of: read
-- title: The same bytes are read again
-- says: The program read {files:count file} {times:text} times over: the same process had read {again:bytes} of {bytes:bytes} before
-- gain: the share of those files' read time spent on bytes read before
-- place: events where layer IN @io AND category = 'read' AND file = {worst:sql}
-- try: keep what was read (a cache, a memory map), or read each file once per process; worst file: {worst:text}
WITH per_process AS (
  SELECT host, file, pid, sum(bytes) AS bytes, max(extent) AS extent, sum(self) AS time FROM io
  WHERE direction = 'read' AND extent > 0 AND placed > 0 GROUP BY host, file, pid),
per_file AS (
  SELECT file, sum(bytes) AS bytes, sum(extent) AS extent, sum(time * (bytes - extent) / bytes) AS time FROM per_process
  WHERE bytes >= 1.5 * extent GROUP BY file),
sums AS (
  SELECT count(*) AS files, sum(bytes) AS bytes, sum(bytes - extent) AS again, sum(extent) AS extent, sum(time) AS time,
         arg_max(file, bytes - extent) AS worst FROM per_file)
SELECT s.files AS files, printf('%.1f', s.bytes / s.extent) AS times, CAST(s.again AS BIGINT) AS again, CAST(s.bytes AS BIGINT) AS bytes,
       s.worst AS worst, CAST(s.time / p.at_once AS BIGINT) AS gain
FROM sums s, pace p WHERE s.again >= 1048576
-- evidence:
SELECT file, pid, CAST(sum(bytes) AS BIGINT) AS bytes, max(extent) AS extent, sum(bytes) / max(extent) AS times, CAST(sum(self) AS BIGINT) AS self
FROM io WHERE direction = 'read' AND extent > 0 AND placed > 0 GROUP BY host, file, pid HAVING sum(bytes) >= 1.5 * max(extent)
ORDER BY sum(bytes) - max(extent) DESC LIMIT 50
