-- id: waits-for-gpu
-- severity: medium
-- of: cuda 200
-- title: The host often waits for the GPU
-- says: {waits:count wait} for the GPU took {time:ns}, one for every {launches:count launch}
-- place: events where layer = 'cuda' AND category = 'sync'
-- try: let launches run ahead: read results (.item(), .cpu(), printing a loss) every few steps, copy with non_blocking=True and pinned memory, and wait for an event instead of the whole device
WITH sums AS (
  SELECT sum(calls) FILTER (category = 'sync') AS waits, sum(dur) FILTER (category = 'sync') AS time,
         sum(calls) FILTER (category = 'launch') AS launches
  FROM summary WHERE layer = 'cuda')
SELECT CAST(waits AS BIGINT) AS waits, CAST(time AS BIGINT) AS time, CAST(launches // waits AS BIGINT) AS launches
FROM sums, totals t WHERE waits >= 200 AND launches BETWEEN waits AND 20 * waits AND time > 0.1 * t.wall
-- evidence:
SELECT name, pid, calls, dur, dur // calls AS each, dur_max FROM summary WHERE layer = 'cuda' AND category IN ('sync', 'launch')
ORDER BY dur DESC LIMIT 50
