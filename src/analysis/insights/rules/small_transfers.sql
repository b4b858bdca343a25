-- id: small-transfers
-- severity: medium
-- title: Many small copies to and from GPUs
-- says: {calls:count copy} by the CUDA driver moved {each:bytes} each and took {time:ns} on the host
-- gain: the calls that 1 MiB copies would save, each at the cost of the fastest copy seen
-- try: collect related data in one pinned buffer and copy that; keep data that is used again on the GPU
WITH sums AS (
  SELECT sum(calls) AS calls, sum(bytes) AS bytes, sum(dur) AS time, min(dur_min) AS floor FROM summary
  WHERE layer = 'cuda' AND category = 'copy' AND bytes > 0 AND name NOT LIKE 'cuMemcpyDtoD%')
SELECT CAST(calls AS BIGINT) AS calls, bytes / calls AS each, CAST(time AS BIGINT) AS time,
       CAST(greatest(calls - bytes / 1048576, 0) * floor AS BIGINT) AS gain
FROM sums, totals t WHERE calls >= 1000 AND bytes / calls < 65536 AND time > 0.03 * t.wall
-- evidence:
SELECT name, pid, calls, bytes, bytes // calls AS bytes_per_call, dur FROM summary
WHERE layer = 'cuda' AND category = 'copy' ORDER BY dur DESC LIMIT 50
