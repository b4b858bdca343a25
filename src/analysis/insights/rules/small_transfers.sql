-- id: small-transfers
-- severity: medium
-- of: cuda 1000
-- title: Many small copies to and from GPUs
-- says: {calls:count copy} by the CUDA driver moved {each:bytes} each and took {time:ns} on the host
-- gain: the calls that 1 MiB copies would save, at nine tenths of their time at most
-- place: events where layer = 'cuda' AND category = 'copy' AND name NOT LIKE 'cuMemcpyDtoD%'
-- try: collect related data in one pinned buffer and copy that; keep data that is used again on the GPU
WITH sums AS (
  SELECT sum(calls - errors) AS calls, sum(bytes) AS bytes, sum(dur) AS time, sum(dur) * 0.9 AS most FROM summary
  WHERE layer = 'cuda' AND category = 'copy' AND bytes > 0 AND name NOT LIKE 'cuMemcpyDtoD%')
SELECT CAST(calls AS BIGINT) AS calls, bytes / calls AS each, CAST(time AS BIGINT) AS time,
       CAST(least(time * greatest(1 - bytes / 1048576 / calls, 0), most) AS BIGINT) AS gain
FROM sums, totals t WHERE calls >= 1000 AND bytes / calls < 65536 AND time > 0.03 * t.wall
-- evidence:
SELECT name, pid, calls, bytes, bytes // nullif(calls - errors, 0) AS bytes_per_call, dur FROM summary
WHERE layer = 'cuda' AND category = 'copy' ORDER BY dur DESC LIMIT 50
