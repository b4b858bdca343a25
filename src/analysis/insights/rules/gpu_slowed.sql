-- id: gpu-slowed
-- severity: low
-- title: Heat or power limits slow a GPU down
-- says: The clocks of {gpu:text} were reduced for {share:percent} of the time
-- place: view resources
-- try: check power and temperature ('fathom report TRACE resources'), the limits (nvidia-smi -q -d POWER,TEMPERATURE,PERFORMANCE) and the cooling
WITH shares AS (
  SELECT host, regexp_extract(name, '^gpu[0-9]+') AS gpu, avg(value) AS share, count(*) AS samples FROM counters
  WHERE layer = 'resource' AND regexp_matches(name, '^gpu[0-9]+_slowed$') GROUP BY ALL),
worst AS (SELECT arg_max(gpu, share) AS gpu, max(share) AS share FROM shares WHERE samples >= 20)
SELECT gpu, share FROM worst WHERE share > 10
-- evidence:
SELECT host, name, unit, avg(value) AS mean, max(value) AS most FROM counters
WHERE layer = 'resource' AND regexp_matches(name, '^gpu[0-9]+_(slowed|power|temperature|clock)$') GROUP BY ALL ORDER BY ALL LIMIT 50
