-- id: training-waits-for-data
-- severity: high
-- of: app
-- title: Training waits for data
-- says: {waits:count wait} for batches took {time:ns}, {share:percent} of the training time
-- gain: the waits of the process that waited longest, if its data were always ready
-- place: events where layer = 'app' AND (name IN ('fetch', 'fetch.iter') OR name LIKE 'enumerate(DataLoader)%')
-- try: load more batches ahead, in more workers (PyTorch: num_workers, prefetch_factor, persistent_workers; tf.data: prefetch, num_parallel_calls); 'fathom report TRACE training' shows each rank
WITH sums AS (
  SELECT host, pid, sum(dur) FILTER (name IN ('fetch', 'fetch.iter') OR name LIKE 'enumerate(DataLoader)%') AS waited,
         sum(calls) FILTER (name IN ('fetch', 'fetch.iter') OR name LIKE 'enumerate(DataLoader)%') AS waits,
         coalesce(sum(dur) FILTER (category = 'compute' AND name IN ('forward', 'loss', 'backward', 'optimizer', 'step', 'call', 'wait')), 0) AS compute,
         coalesce(sum(dur) FILTER (name = 'step' AND category IS DISTINCT FROM 'compute'), 0) AS steps,
         coalesce(sum(dur) FILTER (name IN ('epoch', 'epoch.block', 'evaluate')), 0) AS epochs
  FROM summary WHERE layer = 'app' GROUP BY host, pid),
trained AS (SELECT *, greatest(epochs, steps, waited + compute) AS time FROM sums WHERE waited > 0 AND compute + steps + epochs > 0),
whole AS (SELECT sum(waits) AS waits, sum(waited) AS waited, max(waited) AS gain, sum(time) AS time FROM trained)
SELECT CAST(w.waits AS BIGINT) AS waits, CAST(w.waited AS BIGINT) AS time, 100 * w.waited / w.time AS share, CAST(w.gain AS BIGINT) AS gain
FROM whole w, totals t WHERE w.waits >= 20 AND w.waited > 0.2 * w.time AND w.gain > 0.05 * t.wall
-- evidence:
SELECT host, pid, name, category, calls, dur, dur_max FROM summary
WHERE layer = 'app' AND (category IN ('dataloader', 'data', 'compute') OR name IN ('step', 'epoch', 'evaluate') OR name LIKE 'enumerate(DataLoader)%')
ORDER BY dur DESC LIMIT 50
