-- id: events-lost
-- severity: medium
-- title: The recording is incomplete
-- says: {lost:count event} got lost ({reason:text}), so all sums are too small
-- try: {advice:text}
WITH lost AS (  -- neither what somebody asked to leave out, nor names and positions of events that are there (trace/spool/losses.h)
  SELECT * FROM losses WHERE NOT regexp_matches(reason,
    '^left out by --filter|^beyond the number asked for$|^text cut short$|^names and positions |^a file''s path |other files$|^stacks |^frames |^names of frames ')),
advised AS (  -- what helps depends on why (trace/spool/pool_losses.cc and sources/ebpf/rows.cc have the reasons)
  SELECT "count", reason, CASE
    WHEN reason = 'no room in the ring of single calls' THEN 'raise --kernel-ring, or name fewer layers in --detail'
    WHEN reason LIKE '%no room for %sums' THEN 'raise --kernel-rows'
    WHEN reason LIKE 'no room%' OR reason LIKE '%spool full%' THEN
      'raise --spool-max, use --when-full block, or record fewer layers or calls (--calls)'
    WHEN reason LIKE 'not available in this Python%' OR reason LIKE 'not told by this Python%' THEN
      'use Python 3.12 or newer, or record without --python-loops and --python-c'
    WHEN reason LIKE 'functions nested too deep%' THEN 'limit the depth with --python-depth'
    ELSE '''fathom info'' lists all losses with their reasons' END AS advice
  FROM lost)
SELECT CAST(sum("count") AS BIGINT) AS lost, arg_max(reason, "count") AS reason, arg_max(advice, "count") AS advice
FROM advised HAVING sum("count") > 0
-- evidence:
SELECT layer, reason, "count" FROM losses ORDER BY "count" DESC
