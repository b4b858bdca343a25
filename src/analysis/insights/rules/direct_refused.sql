-- id: direct-io-refused
-- severity: medium
-- title: Direct I/O refused for its alignment
-- says: {calls:count} reads and writes failed with EINVAL, most of them on {file:text}: with O_DIRECT the memory, the offset and the length must be aligned
-- try: allocate buffers with posix_memalign(512 or the block size) and use lengths that are multiples of it
SELECT count(*) AS calls, mode(file) AS file FROM events
WHERE layer = 'posix' AND category IN ('read', 'write') AND error = 'EINVAL' HAVING count(*) >= 10
-- evidence:
SELECT ts, pid, tid, name, file, "offset", size, args FROM events
WHERE layer = 'posix' AND category IN ('read', 'write') AND error = 'EINVAL' ORDER BY ts LIMIT 50
