-- id: written-again
-- severity: medium
-- of: write
-- title: The same bytes are written again
-- says: The program wrote {files:count file} {times:text} times over: {again:bytes} of {bytes:bytes} overwrote what the same process had written
-- gain: the share of those files' write time spent on bytes written before
-- place: events where layer IN @io AND category = 'write' AND file = {worst:sql}
-- try: collect changes in memory and write them once; worst file: {worst:text}
WITH per_process AS (
  SELECT host, file, pid, sum(bytes) AS bytes, max(extent) AS extent, sum(self) AS time FROM io
  WHERE direction = 'write' AND extent > 0 AND placed > 0 GROUP BY host, file, pid),
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
FROM io WHERE direction = 'write' AND extent > 0 AND placed > 0 GROUP BY host, file, pid HAVING sum(bytes) >= 1.5 * max(extent)
ORDER BY sum(bytes) - max(extent) DESC LIMIT 50
