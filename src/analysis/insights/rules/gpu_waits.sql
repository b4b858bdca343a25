-- id: waits-for-gpu
-- severity: medium
-- title: The host waits for the GPU again and again
-- says: {waits:count} waits for the device take {time:ns}; one comes after every {launches:count} launches
-- try: let launches run ahead: read results (.item(), .cpu(), printing a loss) every so many steps, copy with non_blocking=True from and to pinned memory, wait for an event instead of the whole device
WITH sums AS (
  SELECT sum(calls) FILTER (category = 'sync') AS waits, sum(dur) FILTER (category = 'sync') AS time,
         sum(calls) FILTER (category = 'launch') AS launches
  FROM summary WHERE layer = 'cuda')
SELECT CAST(waits AS BIGINT) AS waits, CAST(time AS BIGINT) AS time, CAST(launches // waits AS BIGINT) AS launches
FROM sums, totals t WHERE waits >= 200 AND launches BETWEEN waits AND 20 * waits AND time > 0.1 * t.wall
-- evidence:
SELECT name, pid, calls, dur, dur // calls AS each, dur_max FROM summary WHERE layer = 'cuda' AND category IN ('sync', 'launch')
ORDER BY dur DESC LIMIT 50
