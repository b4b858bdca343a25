-- id: gpus-idle
-- severity: high
-- title: The GPUs wait for the host
-- says: between their first and their last work, {span:ns}, GPUs had work for {busy:ns} at most: {share:percent} of the time they were idle
-- gain: all of that, if the host were always ahead of them
-- try: fathom report TRACE gpu-idle tells what the host did meanwhile; more work in each launch (larger batches, torch.compile, CUDA graphs), data that is loaded ahead, fewer waits (.item(), .cpu(), printing a loss) in the loop
WITH sums AS (
  SELECT host, sum(dur) AS busy, sum(calls) AS works, min(first) AS begun, max("last") AS ended FROM summary
  WHERE layer = 'gpu' AND category IS DISTINCT FROM 'sync' GROUP BY host),
spans AS (SELECT *, ended - begun AS span FROM sums WHERE works >= 100),
worst AS (SELECT arg_max(busy, span - busy) AS busy, arg_max(span, span - busy) AS span FROM spans)
SELECT CAST(busy AS BIGINT) AS busy, CAST(span AS BIGINT) AS span, 100 * (span - busy) / span AS share, CAST(span - busy AS BIGINT) AS gain
FROM worst WHERE span >= 500000000 AND busy < 0.6 * span
-- evidence:
SELECT host, name, category, calls, dur, dur // calls AS each, bytes FROM summary
WHERE layer = 'gpu' ORDER BY dur DESC LIMIT 50
