-- id: few-instructions-per-cycle
-- severity: low
-- title: The CPU executes few instructions per cycle
-- says: Process {pid:text} executed {ipc:text} instructions per cycle, in {cycles:count cycle}; programs that wait for memory are below 0.5
-- place: view resources
-- try: find where memory is missed (fathom run --sample-event cache-misses -- CMD), and keep data that is used together side by side
WITH counts AS (
  SELECT host, pid, max(value) FILTER (name IN ('instructions', 'instructions:u')) AS instructions,
         max(value) FILTER (name IN ('cycles', 'cpu-cycles', 'cycles:u')) AS cycles
  FROM counters WHERE layer = 'cpu' AND pid IS NOT NULL GROUP BY host, pid),
top AS (SELECT * FROM counts WHERE instructions > 0 AND cycles > 0 ORDER BY cycles DESC LIMIT 1)
SELECT pid AS pid, format('{:.2f}', instructions / cycles) AS ipc, CAST(cycles AS BIGINT) AS cycles FROM top
WHERE cycles >= 2e9 AND instructions / cycles < 0.5
-- evidence:
SELECT host, pid, name, max(value) AS value FROM counters WHERE layer = 'cpu' GROUP BY ALL ORDER BY pid, name LIMIT 50
