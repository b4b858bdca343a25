-- id: misaligned-offsets
-- severity: low
-- of: posix 1000
-- title: Accesses are not aligned to 4 KiB
-- says: {share:percent} of {calls:count} reads and writes of {each:bytes} on average began inside a 4 KiB page of the file, so neighbouring accesses touch that page twice
-- gain: one page of each of these calls
-- place: events where layer = 'posix' AND category IN ('read', 'write') AND "offset" % 4096 <> 0 AND file = {worst:sql}
-- try: begin blocks at multiples of 4096, and of the stripe size on a parallel file system; worst file: {worst:text}
WITH per_file AS (
  SELECT file, sum(positioned) AS calls, sum(misaligned) AS off, sum(bytes) AS bytes, sum(calls - errors) AS moved,
         sum(self * misaligned / calls / (bytes / calls / 4096 + 1)) AS gain
  FROM io WHERE layer = 'posix' AND calls > 0 AND bytes >= 4096 * calls GROUP BY file),
sums AS (
  SELECT sum(calls) AS calls, sum(off) AS off, sum(bytes) AS bytes, sum(moved) AS moved, sum(gain) AS gain, arg_max(file, off) AS worst FROM per_file)
SELECT CAST(s.calls AS BIGINT) AS calls, 100 * s.off / s.calls AS share, s.bytes / s.moved AS each, s.worst AS worst, CAST(s.gain / p.at_once AS BIGINT) AS gain
FROM sums s, pace p WHERE s.calls >= 1000 AND s.off > 0.1 * s.calls
-- evidence:
SELECT file, direction, name, positioned, misaligned, self FROM io WHERE layer = 'posix' AND misaligned > 0
ORDER BY misaligned DESC LIMIT 50
