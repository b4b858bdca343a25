-- id: gpus-idle
-- severity: high
-- title: GPUs wait for the host
-- says: the GPUs were idle {share:percent} of the {span:ns} between their first and last work; they were busy for {busy:ns} at most
-- gain: the idle time, if the host always stayed ahead
-- try: 'fathom report TRACE gpu-idle' shows what the host did meanwhile; launch more work at once (larger batches, torch.compile, CUDA graphs), load data ahead of time, and wait less often in the loop (.item(), .cpu(), printing a loss)
WITH sums AS (
  SELECT host, sum(dur) AS busy, sum(calls) AS works, min(first) AS begun, max("last") AS ended FROM summary
  WHERE layer IN @device AND category IS DISTINCT FROM 'sync' GROUP BY host),
spans AS (SELECT *, ended - begun AS span FROM sums WHERE works >= 100),
worst AS (SELECT arg_max(busy, span - busy) AS busy, arg_max(span, span - busy) AS span FROM spans)
SELECT CAST(busy AS BIGINT) AS busy, CAST(span AS BIGINT) AS span, 100 * (span - busy) / span AS share, CAST(span - busy AS BIGINT) AS gain
FROM worst WHERE span >= 500000000 AND busy < 0.6 * span
-- evidence:
SELECT host, name, category, calls, dur, dur // calls AS each, bytes FROM summary
WHERE layer IN @device ORDER BY dur DESC LIMIT 50
