-- id: gpu-code-loading
-- severity: medium
-- title: Loading code for GPUs takes long
-- says: {calls:count} calls that load modules and libraries take {time:ns}, {share:percent} of the run
-- gain: nine tenths, if code were loaded when it is first used and compiled code were kept
-- try: CUDA_MODULE_LOADING=LAZY, caches that stay (CUDA_CACHE_PATH, TRITON_CACHE_DIR), libraries that hold code for this device, so that nothing is compiled at the start
WITH sums AS (SELECT sum(calls) AS calls, sum(dur) AS time FROM summary WHERE layer = 'cuda' AND category = 'module')
SELECT CAST(calls AS BIGINT) AS calls, CAST(time AS BIGINT) AS time, 100 * time / t.wall AS share, CAST(0.9 * time AS BIGINT) AS gain
FROM sums, totals t WHERE time > 500000000 AND time > 0.1 * t.wall
-- evidence:
SELECT name, pid, calls, dur, dur_max FROM summary WHERE layer = 'cuda' AND category = 'module' ORDER BY dur DESC LIMIT 50
