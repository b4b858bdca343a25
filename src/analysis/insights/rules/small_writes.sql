-- id: small-writes
-- severity: high
-- title: Many small writes
-- says: {calls:count write} of less than 64 KiB ({each:bytes} on average) took {time:ns}, {share:percent} of the threads' time
-- gain: the calls that 1 MiB writes would save, each at the cost of the fastest write seen
-- try: buffer output and write it in large blocks, or use writev; worst file: {worst:text}
WITH small AS (
  SELECT file, self, calls, bytes, dur_min, small AS few FROM io
  WHERE direction = 'write' AND sizes IS NOT NULL),
sums AS (
  SELECT sum(few) AS calls, sum(calls) AS all_calls, sum(bytes) AS bytes, sum(self) AS self,
         sum(self * few / calls) AS time, min(dur_min) AS floor, arg_max(file, self) AS worst
  FROM small WHERE few > 0)
SELECT CAST(s.calls AS BIGINT) AS calls, s.bytes / s.all_calls AS each, s.time AS time,
       100 * s.time / t.thread_time AS share, s.worst AS worst,
       CAST(greatest(s.calls - s.bytes / 1048576, 0) * s.floor AS BIGINT) AS gain
FROM sums s, totals t
WHERE s.calls >= 1000 AND s.calls > 0.1 * s.all_calls AND s.time > 0.03 * t.thread_time
-- evidence:
SELECT file, layer, name, calls, small, bytes // calls AS bytes_per_call, self
FROM io WHERE direction = 'write' AND small > 0 ORDER BY self DESC LIMIT 50
