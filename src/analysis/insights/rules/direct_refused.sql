-- id: direct-io-refused
-- severity: medium
-- of: posix 10
-- title: Direct I/O fails because it is not aligned
-- says: {calls:count} reads and writes failed with EINVAL, most of them on {file:text}: O_DIRECT needs an aligned buffer, offset and length
-- place: events where layer = 'posix' AND category IN ('read', 'write') AND error = 'EINVAL'
-- try: allocate buffers with posix_memalign (512 bytes or the block size) and use lengths that are multiples of it
SELECT count(*) AS calls, mode(file) AS file FROM events
WHERE layer = 'posix' AND category IN ('read', 'write') AND error = 'EINVAL' HAVING count(*) >= 10
-- evidence:
SELECT ts, pid, tid, name, file, "offset", size, args FROM events
WHERE layer = 'posix' AND category IN ('read', 'write') AND error = 'EINVAL' ORDER BY ts LIMIT 50
