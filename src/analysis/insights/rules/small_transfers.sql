-- id: small-transfers
-- severity: medium
-- title: Many small copies to and from GPUs
-- says: {calls:count} copies by the CUDA driver move {each:bytes} each and take {time:ns} of the host
-- gain: the calls that copies of 1 MiB would save, each at the price of the fastest one seen
-- try: gather what belongs together in one pinned buffer and copy that; keep on the device what is used again
WITH sums AS (
  SELECT sum(calls) AS calls, sum(bytes) AS bytes, sum(dur) AS time, min(dur_min) AS floor FROM summary
  WHERE layer = 'cuda' AND category = 'copy' AND bytes > 0 AND name NOT LIKE 'cuMemcpyDtoD%')
SELECT CAST(calls AS BIGINT) AS calls, bytes / calls AS each, CAST(time AS BIGINT) AS time,
       CAST(greatest(calls - bytes / 1048576, 0) * floor AS BIGINT) AS gain
FROM sums, totals t WHERE calls >= 1000 AND bytes / calls < 65536 AND time > 0.03 * t.wall
-- evidence:
SELECT name, pid, calls, bytes, bytes // calls AS bytes_per_call, dur FROM summary
WHERE layer = 'cuda' AND category = 'copy' ORDER BY dur DESC LIMIT 50
