-- id: gpus-idle
-- severity: high
-- of: gpu 100
-- title: GPUs wait for the host
-- says: Once it was warm, the GPU work of {span:ns} left the GPUs idle for {share:percent}; they were busy for {busy:ns} at most
-- gain: the idle time between the first tenth and the last twentieth of the work, if the host always stayed ahead
-- place: view gpu
-- try: 'fathom report TRACE gpu-idle' shows what the host did meanwhile; launch more work at once (larger batches, torch.compile, CUDA graphs), load data ahead of time, and wait less often in the loop (.item(), .cpu(), printing a loss)
WITH works AS (
  SELECT host, sum(calls) AS works FROM summary WHERE layer IN @device AND category IS DISTINCT FROM 'sync' GROUP BY host),
cells AS (
  SELECT host, ts, width, least(busy, width) AS busy, sum(calls) OVER (PARTITION BY host ORDER BY ts) AS done, sum(calls) OVER (PARTITION BY host) AS every
  FROM timeline WHERE layer IN @device),
steady AS (
  SELECT host, sum(busy) AS busy, max(ts + width) - min(ts) AS span FROM cells
  WHERE done >= 0.1 * every AND done <= 0.95 * every GROUP BY host),
worst AS (SELECT arg_max(s.busy, s.span - s.busy) AS busy, arg_max(s.span, s.span - s.busy) AS span FROM steady s JOIN works w USING (host) WHERE w.works >= 100)
SELECT CAST(busy AS BIGINT) AS busy, CAST(span AS BIGINT) AS span, 100 * (span - busy) / span AS share, CAST(span - busy AS BIGINT) AS gain
FROM worst WHERE span >= 300000000 AND busy < 0.6 * span
-- evidence:
SELECT host, name, category, calls, dur, dur // calls AS each, bytes FROM summary
WHERE layer IN @device ORDER BY dur DESC LIMIT 50
