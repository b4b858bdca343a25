-- id: page-faults
-- severity: medium
-- of: samples 100
-- title: Page faults take much of the time
-- says: Thread {tid:text} of {program:text} was in page faults for {time:ns}, {share:percent} of the run: {cpu:ns} on a CPU, {waited:ns} waiting for data; most often below {caller:text}
-- gain: the waiting, and half of the CPU time
-- place: samples where host IS NOT DISTINCT FROM {host:sql} AND pid = {pid:sql} AND tid = {tid:sql} AND stack IN (SELECT stack FROM frames WHERE module LIKE '[kernel%' AND "function" IN
--   ('asm_exc_page_fault', 'exc_page_fault', 'do_user_addr_fault', 'do_page_fault', 'do_mem_abort', 'handle_mm_fault'))
-- try: use memory again instead of freeing it, use huge pages (madvise), and read mapped files ahead (MADV_WILLNEED, MAP_POPULATE)
WITH faults AS (
  SELECT DISTINCT stack FROM frames WHERE module LIKE '[kernel%'
    AND "function" IN ('asm_exc_page_fault', 'exc_page_fault', 'do_user_addr_fault', 'do_page_fault', 'do_mem_abort', 'handle_mm_fault')),
callers AS (
  SELECT stack, max_by("function", depth) AS caller FROM (SELECT DISTINCT stack, depth, "function", module FROM frames JOIN faults USING (stack))
  WHERE coalesce(module, '') NOT LIKE '[kernel%' GROUP BY stack),
touched AS (
  SELECT s.host, s.pid, s.tid, c.caller, sum(s.weight) FILTER (s.event = 'cpu-clock') AS cpu, sum(s.weight - coalesce(s.ready, 0)) FILTER (s.event = 'off-cpu') AS waited
  FROM samples s JOIN faults USING (stack) LEFT JOIN callers c USING (stack) WHERE s.event IN ('cpu-clock', 'off-cpu') GROUP BY s.host, s.pid, s.tid, c.caller),
per_thread AS (
  SELECT host, pid, tid, coalesce(sum(cpu), 0) AS cpu, coalesce(sum(waited), 0) AS waited, arg_max(caller, coalesce(cpu, 0) + coalesce(waited, 0)) AS caller
  FROM touched GROUP BY host, pid, tid),
top AS (SELECT * FROM per_thread ORDER BY cpu + waited DESC, tid LIMIT 1)
SELECT t.host AS host, t.pid AS pid, t.tid AS tid, coalesce((SELECT arg_max(p.name, p.start) FROM processes p WHERE p.pid = t.pid AND p.host IS NOT DISTINCT FROM t.host), 'unknown') AS program,
       CAST(t.cpu + t.waited AS BIGINT) AS time, 100 * (t.cpu + t.waited) / r.wall AS share, CAST(t.cpu AS BIGINT) AS cpu, CAST(t.waited AS BIGINT) AS waited,
       coalesce(t.caller, 'unknown') AS caller, CAST(t.waited + t.cpu / 2 AS BIGINT) AS gain
FROM top t, totals r WHERE t.cpu + t.waited > 200000000 AND t.cpu + t.waited > 0.2 * r.wall
-- evidence:
SELECT s.pid, s.tid, f."function", count(*) AS samples, sum(s.weight) AS time FROM samples s JOIN frames f USING (stack)
WHERE f."function" IN ('asm_exc_page_fault', 'exc_page_fault', 'do_user_addr_fault', 'do_page_fault', 'do_mem_abort', 'handle_mm_fault')
GROUP BY ALL ORDER BY time DESC LIMIT 50
