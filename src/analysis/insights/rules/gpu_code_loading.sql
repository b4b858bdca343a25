-- id: gpu-code-loading
-- severity: medium
-- of: cuda
-- title: Loading GPU code takes long
-- says: Loading modules and libraries took {time:ns} in {calls:count call}, {share:percent} of the run
-- gain: nine tenths of it, if code were loaded on first use and compiled code were cached
-- place: events where layer = 'cuda' AND category = 'module'
-- try: set CUDA_MODULE_LOADING=LAZY, keep caches between runs (CUDA_CACHE_PATH, TRITON_CACHE_DIR), and use libraries built for this GPU so that nothing is compiled at start
WITH sums AS (SELECT sum(calls) AS calls, sum(dur) AS time FROM summary WHERE layer = 'cuda' AND category = 'module')
SELECT CAST(calls AS BIGINT) AS calls, CAST(time AS BIGINT) AS time, 100 * time / t.wall AS share, CAST(0.9 * time AS BIGINT) AS gain
FROM sums, totals t WHERE time > 500000000 AND time > 0.1 * t.wall
-- evidence:
SELECT name, pid, calls, dur, dur_max FROM summary WHERE layer = 'cuda' AND category = 'module' ORDER BY dur DESC LIMIT 50
