-- id: small-kernels
-- severity: medium
-- of: gpu 1000, cuda 500
-- title: Kernels are shorter than their launches
-- says: {kernels:count kernel} ran for {each:ns} each on a GPU, while a launch took {launch:ns} on the host: {time:ns} of launching for {work:ns} of work
-- gain: the launches that graphs of ten kernels would save
-- place: events where layer IN @device AND category = 'kernel'
-- try: run fewer, larger kernels: torch.compile or another fuser, CUDA graphs, larger batches
WITH kernels AS (
  SELECT sum(calls) AS calls, sum(dur) AS dur FROM summary WHERE layer IN @device AND category = 'kernel'),
launches AS (
  SELECT sum(calls) AS calls, sum(dur) AS dur FROM summary WHERE layer = 'cuda' AND category = 'launch')
SELECT CAST(k.calls AS BIGINT) AS kernels, k.dur / k.calls AS each, l.dur / l.calls AS launch, CAST(l.dur AS BIGINT) AS time,
       CAST(k.dur AS BIGINT) AS work, CAST(0.9 * l.dur AS BIGINT) AS gain
FROM kernels k, launches l, totals t
WHERE k.calls >= 1000 AND l.calls > 0.5 * k.calls AND l.dur > k.dur AND l.dur > 0.05 * t.wall
-- evidence:
SELECT name, calls, dur, dur // calls AS each, dur_max FROM summary WHERE layer IN @device AND category = 'kernel'
ORDER BY calls DESC LIMIT 50
