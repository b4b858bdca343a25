-- id: misaligned-offsets
-- severity: low
-- title: Accesses are not aligned to 4 KiB
-- says: {share:percent} of {calls:count} reads and writes began inside a 4 KiB page of the file, so neighbouring accesses touch that page twice
-- try: begin blocks at multiples of 4096, and of the stripe size on a parallel file system; worst file: {worst:text}
WITH sums AS (
  SELECT sum(positioned) AS calls, sum(misaligned) AS off, sum(self) AS time,
         arg_max(file, misaligned) AS worst FROM io WHERE layer = 'posix')
SELECT CAST(calls AS BIGINT) AS calls, 100 * off / calls AS share, worst FROM sums, totals t
WHERE calls >= 1000 AND off > 0.1 * calls AND time > 0.05 * t.thread_time
-- evidence:
SELECT file, direction, name, positioned, misaligned, self FROM io WHERE layer = 'posix' AND misaligned > 0
ORDER BY misaligned DESC LIMIT 50
