-- What holds in a sound store, rule by rule: a query that returns a row for each violation, with its place and its
-- problem. `mend` says how to fix it, where that is not to restore a snapshot; `check --deep` adds the deep rules, which
-- recompute figures and links from their rows. `{memory_state}` stands for the state of the memory `m` as JSON.

-- rule: rollups say what is in the store, within their budgets
-- mend: run 'memory-pipeline rollups run', which makes rollups again
select id, 'the memory or rollup ' || said || ' is not there'
from (select id, project_id, unnest(memory_ids || below_ids) as said from rollups) r
where said not in (select id from memories where project_id = r.project_id)
  and said not in (select id from rollups where project_id = r.project_id)
union all
select id, token_count || ' tokens, of at most ' || budget_tokens
from rollups
where token_count > budget_tokens;

-- rule: archived memories point to what replaced them
select m.id, 'consolidated_into_id ' || coalesce(m.consolidated_into_id, 'is empty') || ' leads nowhere'
from memories m
left join memories t on t.id = m.consolidated_into_id
where m.archived_at is not null and m.rolled_back_at is null and t.id is null and m.archived_by <> 'expired';

-- rule: archive fields are all set or all empty
select id, 'archived_by, archived_at, consolidated_into_id and importance_before disagree'
from memories
where rolled_back_at is null
  and ((archived_at is null) <> (archived_by is null)
       or (archived_at is null or archived_by = 'expired') <> (consolidated_into_id is null)
       or (archived_at is null) <> (importance_before is null));

-- rule: every archived memory is a source in the lineage of what replaced it
select m.id, 'no lineage link from ' || m.consolidated_into_id
from memories m
left join lineage l on l.memory_id = m.consolidated_into_id and l.source_id = m.id
where m.archived_at is not null and m.rolled_back_at is null and l.source_id is null
  and m.archived_by <> 'expired';

-- rule: lineage links lead to memories
select l.memory_id || ' <- ' || l.source_id, 'one end does not exist'
from lineage l
left join memories a on a.id = l.memory_id
left join memories b on b.id = l.source_id
where a.id is null or b.id is null;

-- rule: lineage stays inside one project
select l.memory_id || ' <- ' || l.source_id, 'projects ' || a.project_id || ' and ' || b.project_id
from lineage l
join memories a on a.id = l.memory_id
join memories b on b.id = l.source_id
where a.project_id <> b.project_id;

-- rule: every abstraction has sources
select m.id, 'no lineage at all'
from memories m
left join lineage l on l.memory_id = m.id
where m.source_connector = 'night' and m.rolled_back_at is null and l.memory_id is null;

-- rule: critical and pinned memories are never archived
select id, 'archived although critical or pinned'
from memories
where archived_at is not null and (importance_before >= 2.5 or pinned);

-- rule: compressed_from can be read
select id, 'compressed_from is not valid JSON'
from memories
where compressed_from is not null and not json_valid(compressed_from);

-- rule: vectors belong to memories
select e.memory_id, 'vector of model ' || e.model || ' without its memory'
from embeddings e
left join memories m on m.id = e.memory_id
where m.id is null;

-- rule: vectors are as long as they say, and of unit length
-- mend: run 'memory-pipeline night', which embeds memories without a vector
select memory_id, 'model ' || model || ': length ' || round(list_inner_product(vector, vector), 4)::text
from embeddings
where len(vector) <> dimension
  or coalesce(abs(list_inner_product(vector::double[], vector::double[]) - 1) > 2e-4, true)
  or isnan(list_inner_product(vector::double[], vector::double[]));

-- rule: every compressed log row names its memory
select g.id, 'memory ' || coalesce(g.compressed_memory_id, '(none)') || ' does not exist'
from compression_log g
left join memories m on m.id = g.compressed_memory_id
where g.status = 'compressed' and m.id is null;

-- rule: every abstraction is in the log
select m.id, 'no compressed row in compression_log'
from memories m
left join compression_log g on g.compressed_memory_id = m.id and g.status = 'compressed'
where m.source_connector = 'night' and m.archived_at is null and g.id is null
  -- What another store made has its log there.
  and exists (
      select 1
      from audit_log a
      where a.table_name = 'memories' and a.row_id = m.id and a.action = 'insert' and a.run_id is not null
  );

-- rule: conflicting memories are not archived into one
-- mend: roll back the run that archived them
select c.a || ' ~ ' || c.b, 'both archived into ' || a.consolidated_into_id
from conflicts c
join memories a on a.id = c.a
join memories b on b.id = c.b
where a.consolidated_into_id = b.consolidated_into_id and a.archived_at is not null
  and b.archived_at is not null and c.resolution is null
  and c.found_at <= least(a.archived_at, b.archived_at)
  -- Found while distilling: the abstraction quotes both sides.
  and c.kind not in ('contradiction', 'likely')
  -- A person decided against that side.
  and not exists (
      select 1
      from lineage l
      where l.memory_id = a.consolidated_into_id and l.source_id in (c.a, c.b)
        and l.relation = 'superseded'
  );

-- rule: what was extracted from conversations is of turns of their project
select e.id, 'turn ' || e.turn_id || ' does not exist in project ' || e.project_id
from extractions e
left join memories m on m.id = e.turn_id and m.project_id = e.project_id
where m.id is null;

-- rule: what was extracted stands once, and belongs to a day that stands
-- mend: read that day again ('memory-pipeline conversations run --date DAY')
select e.id, 'it stands ' || count(*) || ' times'
from extractions e
where e.gone_at is null
group by e.id
having count(*) > 1
union all
select e.id, 'the run ' || e.run_id || ' has no reading of ' || e.night || ' that stands'
from extractions e
left join conversation_days d
  on d.project_id = e.project_id and d.night = e.night and d.run_id = e.run_id and d.gone_at is null
where e.gone_at is null and d.run_id is null;

-- rule: what was extracted into a memory has it
-- mend: read that day again ('memory-pipeline conversations run --date DAY')
select e.id, 'memory ' || coalesce(e.memory_id, '(none)') || ' is not there'
from extractions e
left join memories m on m.id = e.memory_id
where e.gone_at is null and e.destination = 'memory' and e.memory_id is not null
  and (m.id is null or m.rolled_back_at is not null)
  and e.id not in (select id from relationship_patterns where decision = 'rejected');

-- rule: USER has what its human said alone, RELATIONAL how the two work together
-- mend: read that day again ('memory-pipeline conversations run --date DAY')
select id, 'a ' || kind || ' of the ' || speaker || ' went to ' || destination
from extractions
where gone_at is null
  and ((destination = 'user'
        and (speaker <> 'human' or kind not in ('fact', 'preference', 'emotion', 'repetition')))
       or (destination = 'relational' and kind not in ('trust', 'boundary', 'dynamic'))
       or (destination = 'soul' and speaker <> 'agent'));

-- rule: memories, archive states and the audit log agree
-- mend: something wrote without the audit log; compare with a snapshot
select m.id, 'the audit log does not end in the state that the store has'
from memories m
left join (
    select row_id, max_by(after_hash, sequence) as last
    from audit_log
    where table_name = 'memories'
    group by 1
) g on g.row_id = m.id
where g.last is distinct from sha256({memory_state});

-- deep rule: rolled back memories are out of use
select id, 'rolled back, but not archived or still linked'
from memories m
where rolled_back_at is not null
  and (archived_at is null or consolidated_into_id is not null or importance_before is null
       or exists (select 1 from lineage l where l.memory_id = m.id));

-- deep rule: replacements lead to an active memory
-- mend: roll back the run that made the circle, or restore a snapshot
with recursive chain(id, next, depth) as (
    select id, consolidated_into_id, 0
    from memories
    where archived_at is not null and rolled_back_at is null
    union all
    select c.id, m.consolidated_into_id, c.depth + 1
    from chain c
    join memories m on m.id = c.next
    where m.archived_at is not null and c.depth < 100
),
ends as (
    select id, max(depth) as depth
    from chain
    group by 1
)
select id, 'its chain of replacements is longer than 100, or a circle'
from ends
where depth >= 100
union all
select m.id, 'was archived into ' || t.id || ', which was rolled back'
from memories m
join memories t on t.id = m.consolidated_into_id
where t.rolled_back_at is not null;

-- deep rule: compressed_from names the sources that the lineage has
select m.id, 'compressed_from and lineage name different sources'
from memories m
where m.compressed_from is not null and m.rolled_back_at is null
  and list_sort(from_json(
          case when json_valid(m.compressed_from) then m.compressed_from -> 'source_ids' end, '["VARCHAR"]'))
      is distinct from (
          select list(l.source_id order by l.source_id)
          from lineage l
          where l.memory_id = m.id
            -- A note that repeats a pattern later goes into it, and made nothing of it.
            and l.relation not in ('duplicate', 'superseded', 'extracted', 'replaced', 'repeated'));

-- deep rule: compression ratios are what the tokens give
-- mend: the report of that run shows a wrong figure; the memories are whole
select g.id, 'says ' || g.compression_ratio || ', the tokens give ' || round(t.ratio, 4)
from compression_log g
join (
    select l.memory_id, sum(s.token_count) / any_value(a.token_count)::double as ratio
    from lineage l
    join memories s on s.id = l.source_id
    join memories a on a.id = l.memory_id
    where l.relation not in ('duplicate', 'superseded', 'replaced', 'repeated')
    group by 1
) t on t.memory_id = g.compressed_memory_id
where g.status = 'compressed'
  and g.policy not in ('duplicate', 'conflict', 'reading', 'digest', 'read', 'repeated', 'established')
  and g.rolled_back_at is null and abs(g.compression_ratio - t.ratio) > 0.01;

-- deep rule: atoms rest on memories that speak for them
select a.id,
       case when n.found < len(a.source_ids) then 'a source does not exist'
            when n.retired > 0 then 'a source was rolled back'
            else 'no source, and nobody stated it' end
from atoms a
join (
    select x.id, count(m.id) as found, count(m.rolled_back_at) as retired
    from (
        select id, unnest(source_ids) as source
        from atoms
        union all
        select id, null
        from atoms
    ) x
    left join memories m on m.id = x.source
    group by x.id
) n on n.id = a.id
where a.retracted_at is null
  and (n.found < len(a.source_ids) or n.retired > 0 or (len(a.source_ids) = 0 and a.stated_by is null));

-- deep rule: an atom is as sure as its findings make it
select a.id, 'confidence ' || a.confidence || ' with ' || n.findings || ' findings'
from atoms a
join (
    select a.id, count(c.memory_id) as findings
    from atoms a
    left join atom_candidates c on c.atom_id = a.id
    group by a.id
) n on n.id = a.id
where a.retracted_at is null
  and a.stated_by is null and abs(a.confidence - least(1.0, 0.7 + 0.1 * (n.findings - 1))) > 1e-6;

-- deep rule: every causal finding that was used names its atom
select c.memory_id, c.status || ' without an atom that stands'
from atom_candidates c
left join atoms a on a.id = c.atom_id
where c.status in ('created', 'strengthened')
  and (a.id is null or a.retracted_at is not null);

-- deep rule: the audit log is one unbroken chain for every memory
-- mend: something wrote without the audit log; compare with a snapshot
select row_id, 'entry ' || sequence || ' does not begin where the one before ended'
from (
    select row_id, sequence, before_hash, action,
           lag(after_hash) over (partition by row_id order by sequence) as previous
    from audit_log
    where table_name = 'memories' and after_state is not null
)
where action = 'update' and before_hash is distinct from previous;

-- deep rule: audit entries hash to what they say
-- mend: the audit log was changed; compare with a snapshot
select 'entry ' || sequence, 'its hash is not that of its state'
from audit_log
where table_name in ('memories', 'lineage')
  and ((after_state is not null and after_hash is distinct from sha256(after_state))
       or (before_state is not null and before_hash is distinct from sha256(before_state)));
