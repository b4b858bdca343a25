-- id: gpu-memory-churn
-- severity: medium
-- of: cuda 1000
-- title: GPU memory is allocated and freed in a loop
-- says: {calls:count} allocations and frees in the CUDA driver took {time:ns}, and each free waits for the GPU
-- gain: the time of these calls
-- place: events where layer = 'cuda' AND name IN ('cuMemAlloc', 'cuMemAllocPitch', 'cuMemAllocManaged', 'cuMemFree', 'cuMemHostAlloc', 'cuMemAllocHost', 'cuMemFreeHost')
-- try: reuse buffers between steps, or allocate from a pool: cuMemAllocAsync, or your framework's caching allocator (is it disabled by PYTORCH_NO_CUDA_MEMORY_CACHING, or out of memory?)
WITH sums AS (
  SELECT sum(calls) AS calls, sum(dur) AS time FROM summary
  WHERE layer = 'cuda' AND name IN ('cuMemAlloc', 'cuMemAllocPitch', 'cuMemAllocManaged', 'cuMemFree', 'cuMemHostAlloc', 'cuMemAllocHost', 'cuMemFreeHost'))
SELECT CAST(calls AS BIGINT) AS calls, CAST(time AS BIGINT) AS time, CAST(time AS BIGINT) AS gain
FROM sums, totals t WHERE calls >= 1000 AND time > 0.03 * t.wall
-- evidence:
SELECT name, pid, calls, dur, dur // calls AS each, bytes FROM summary WHERE layer = 'cuda' AND category = 'memory'
ORDER BY dur DESC LIMIT 50
