-- id: flush-each-line
-- severity: low
-- of: stdio 1000, sync 1000
-- title: Output is flushed after nearly every write
-- says: {flushes:count fflush call} for {writes:count stdio write} took {time:ns}
-- gain: the time of the flushes
-- place: events where layer = 'stdio' AND name = 'fflush'
-- try: flush once per block of output, or leave it to the buffer (setvbuf); file: {worst:text}
WITH per_file AS (
  SELECT file, sum(calls) FILTER (name = 'fflush') AS flushes, sum(self) FILTER (name = 'fflush') AS time,
         sum(calls) FILTER (category = 'write') AS writes FROM summary WHERE layer = 'stdio' GROUP BY file),
sums AS (
  SELECT sum(flushes) AS flushes, sum(time) AS time, sum(writes) AS writes, arg_max(file, time) AS worst FROM per_file)
SELECT CAST(flushes AS BIGINT) AS flushes, CAST(writes AS BIGINT) AS writes, CAST(time AS BIGINT) AS time, worst, CAST(time / p.at_once AS BIGINT) AS gain FROM sums, pace p
WHERE flushes >= 1000 AND flushes > 0.5 * writes
-- evidence:
SELECT file, name, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(self) AS BIGINT) AS self FROM summary WHERE layer = 'stdio'
GROUP BY ALL ORDER BY self DESC LIMIT 50
