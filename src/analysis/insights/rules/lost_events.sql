-- id: events-lost
-- severity: medium
-- title: The recording is incomplete
-- says: {lost:count event} got lost ({reason:text}), so all sums are too small
-- try: raise --spool-max, use --when-full block, or record fewer layers or calls (--calls)
WITH lost AS (  -- neither what somebody asked to leave out, nor names and positions of events that are there (trace/spool/losses.h)
  SELECT * FROM losses WHERE NOT regexp_matches(reason,
    '^left out by --filter|^beyond the number asked for$|^text cut short$|^names and positions |^a file''s path |other files$|^stacks '))
SELECT CAST(sum("count") AS BIGINT) AS lost, arg_max(reason, "count") AS reason FROM lost HAVING sum("count") > 0
-- evidence:
SELECT layer, reason, "count" FROM losses ORDER BY "count" DESC
