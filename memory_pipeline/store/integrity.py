"""`check`: does the store still hold together? Links, hashes of sources, vectors, the log, and the laws.

Each finding names a memory or a row, what is wrong, and how to mend it.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

from memory_pipeline.store.audit import memory_state
from memory_pipeline.store.sql import Sql as Transaction
from memory_pipeline.wording.normalise import content_hash, shape_hash
from memory_pipeline.wording.witness import what_is_kept

_MAX_PER_RULE = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: the rule it breaks, where, and the mend."""

    rule: str
    where: str
    problem: str
    mend: str


_RESTORE = "restore a snapshot from before ('memory-pipeline snapshot list')"
_REEMBED = "run 'memory-pipeline night', which embeds what has no vector"

#: Rule, query that returns (where, problem) for each violation, and the mend.
_RULES = (
    (
        "archived memories point to what replaced them",
        "select m.id, 'consolidated_into_id ' || coalesce(m.consolidated_into_id, 'is empty') || ' leads nowhere' "
        "from memories m left join memories t on t.id = m.consolidated_into_id "
        "where m.archived_at is not null and m.rolled_back_at is null and t.id is null",
        _RESTORE,
    ),
    (
        "archive fields are all set or all empty",
        "select id, 'archived_by, archived_at, consolidated_into_id and importance_before disagree' from memories "
        "where rolled_back_at is null and ((archived_at is null) <> (archived_by is null) or (archived_at is null) <> "
        "(consolidated_into_id is null) "
        "or (archived_at is null) <> (importance_before is null))",
        _RESTORE,
    ),
    (
        "every archived memory is a source in the lineage of what replaced it",
        "select m.id, 'no lineage link from ' || m.consolidated_into_id from memories m "
        "left join lineage l on l.memory_id = m.consolidated_into_id and l.source_id = m.id "
        "where m.archived_at is not null and m.rolled_back_at is null and l.source_id is null",
        _RESTORE,
    ),
    (
        "lineage links lead to memories",
        "select l.memory_id || ' <- ' || l.source_id, 'one end does not exist' from lineage l "
        "left join memories a on a.id = l.memory_id left join memories b on b.id = l.source_id "
        "where a.id is null or b.id is null",
        _RESTORE,
    ),
    (
        "lineage stays inside one project",
        "select l.memory_id || ' <- ' || l.source_id, 'projects ' || a.project_id || ' and ' || b.project_id "
        "from lineage l join memories a on a.id = l.memory_id join memories b on b.id = l.source_id "
        "where a.project_id <> b.project_id",
        _RESTORE,
    ),
    (
        "every abstraction has sources",
        "select m.id, 'no lineage at all' from memories m left join lineage l on l.memory_id = m.id "
        "where m.source_connector = 'night' and m.rolled_back_at is null and l.memory_id is null",
        _RESTORE,
    ),
    (
        "critical and pinned memories are never archived",
        "select id, 'archived although critical or pinned' from memories "
        "where archived_at is not null and (importance_before >= 2.5 or pinned)",
        _RESTORE,
    ),
    (
        "compressed_from can be read",
        "select id, 'compressed_from is no valid JSON' from memories where compressed_from is not null "
        "and not json_valid(compressed_from)",
        _RESTORE,
    ),
    (
        "vectors belong to memories",
        "select e.memory_id, 'vector of model ' || e.model || ' without its memory' from embeddings e "
        "left join memories m on m.id = e.memory_id where m.id is null",
        _RESTORE,
    ),
    (
        "vectors are as long as they say, and of unit length",
        "select memory_id, 'model ' || model || ': length ' || round(list_inner_product(vector, vector), 4)::text "
        "from embeddings where len(vector) <> dimension "
        "or coalesce(abs(list_inner_product(vector::double[], vector::double[]) - 1) > 2e-4, true) "
        "or isnan(list_inner_product(vector::double[], vector::double[]))",
        _REEMBED,
    ),
    (
        "every compressed log row names its memory",
        "select g.id, 'memory ' || coalesce(g.compressed_memory_id, '(none)') || ' does not exist' "
        "from compression_log g left join memories m on m.id = g.compressed_memory_id "
        "where g.status = 'compressed' and m.id is null",
        _RESTORE,
    ),
    (
        "every abstraction is in the log",
        "select m.id, 'no compressed row in compression_log' from memories m "
        "left join compression_log g on g.compressed_memory_id = m.id and g.status = 'compressed' "
        "where m.source_connector = 'night' and m.archived_at is null and g.id is null "
        # What another store made has its log there.
        "and exists (select 1 from audit_log a where a.table_name = 'memories' and a.row_id = m.id "
        "and a.action = 'insert' and a.run_id is not null)",
        _RESTORE,
    ),
    (
        "conflicting memories are not archived into one",
        "select c.a || ' ~ ' || c.b, 'both archived into ' || a.consolidated_into_id from conflicts c "
        "join memories a on a.id = c.a join memories b on b.id = c.b "
        "where a.consolidated_into_id = b.consolidated_into_id and a.archived_at is not null and "
        "b.archived_at is not null "
        "and c.resolution is null and c.found_at <= least(a.archived_at, b.archived_at) "
        "and c.kind <> 'contradiction' "  # found while distilling: the abstraction quotes both sides
        "and not exists (select 1 from lineage l where l.memory_id = a.consolidated_into_id and l.source_id in "
        "(c.a, c.b) and l.relation = 'superseded')",  # a person decided against that side
        "roll the run back that archived them",
    ),
    (
        "memories, archive states and the audit log agree",
        "select m.id, 'the audit log does not end in the state that the store has' from memories m "
        "left join (select row_id, max_by(after_hash, sequence) as last from audit_log where table_name = "
        "'memories' group by 1) g "
        f"on g.row_id = m.id where g.last is distinct from sha256({memory_state('m')})",
        "something wrote past the audit log; compare with a snapshot",
    ),
)


#: What `check --deep` adds: figures and links computed again from the rows they speak of.
_DEEP_RULES = (
    (
        "rolled back memories are out of use",
        "select id, 'rolled back, but not archived or still linked' from memories m where rolled_back_at is not null "
        "and (archived_at is null or consolidated_into_id is not null or importance_before is null "
        "or exists (select 1 from lineage l where l.memory_id = m.id))",
        _RESTORE,
    ),
    (
        "replacements lead to an active memory",
        "with recursive chain(id, next, depth) as (select id, consolidated_into_id, 0 from memories "
        "where archived_at is not null and rolled_back_at is null union all select c.id, m.consolidated_into_id, "
        "c.depth + 1 from chain c join memories m on m.id = c.next where m.archived_at is not null "
        "and c.depth < 100), ends as (select id, max(depth) as depth from chain group by 1) "
        "select id, 'its chain of replacements is longer than 100, or a circle' from ends where depth >= 100 "
        "union all select m.id, 'was archived into ' || t.id || ', which was rolled back' from memories m "
        "join memories t on t.id = m.consolidated_into_id where t.rolled_back_at is not null",
        "roll back the run that made the circle, or restore a snapshot",
    ),
    (
        "compressed_from names the sources that the lineage has",
        "select m.id, 'compressed_from and lineage name different sources' from memories m where "
        "m.compressed_from is not null and m.rolled_back_at is null and list_sort(from_json(case when "
        "json_valid(m.compressed_from) then m.compressed_from -> 'source_ids' end, '[\"VARCHAR\"]')) "
        "is distinct from (select list(l.source_id order by l.source_id) from lineage l where l.memory_id = m.id "
        "and l.relation not in ('duplicate', 'superseded'))",
        _RESTORE,
    ),
    (
        "compression ratios are what the tokens give",
        "select g.id, 'says ' || g.compression_ratio || ', the tokens give ' || round(t.ratio, 4) "
        "from compression_log g join (select l.memory_id, "
        "sum(s.token_count) / any_value(a.token_count)::double as ratio from lineage l "
        "join memories s on s.id = l.source_id join memories a on a.id = l.memory_id "
        "where l.relation not in ('duplicate', 'superseded') group by 1) t on t.memory_id = g.compressed_memory_id "
        "where g.status = 'compressed' and g.policy not in ('duplicate', 'conflict') and g.rolled_back_at is null "
        "and abs(g.compression_ratio - t.ratio) > 0.01",
        "the report of that run shows a wrong figure; the memories are whole",
    ),
    (
        "atoms rest on memories that speak for them",
        "select a.id, case when n.found < len(a.source_ids) then 'a source does not exist' "
        "when n.retired > 0 then 'a source was rolled back' else 'no source, and nobody stated it' end from atoms a "
        "join (select x.id, count(m.id) as found, count(m.rolled_back_at) as retired from "
        "(select id, unnest(source_ids) as source from atoms union all select id, null from atoms) x "
        "left join memories m on m.id = x.source group by x.id) n on n.id = a.id where a.retracted_at is null "
        "and (n.found < len(a.source_ids) or n.retired > 0 or (len(a.source_ids) = 0 and a.stated_by is null))",
        _RESTORE,
    ),
    (
        "an atom is as sure as its findings make it",
        "select a.id, 'confidence ' || a.confidence || ' with ' || n.findings || ' findings' from atoms a "
        "join (select a.id, count(c.memory_id) as findings from atoms a left join atom_candidates c "
        "on c.atom_id = a.id group by a.id) n on n.id = a.id where a.retracted_at is null "
        "and abs(a.confidence - case when a.stated_by is not null then 1.0 "
        "else least(1.0, 0.7 + 0.1 * (n.findings - 1)) end) > 1e-6",
        _RESTORE,
    ),
    (
        "every causal finding that was used names its atom",
        "select c.memory_id, c.status || ' without an atom that stands' from atom_candidates c "
        "left join atoms a on a.id = c.atom_id where c.status in ('created', 'strengthened') "
        "and (a.id is null or a.retracted_at is not null)",
        _RESTORE,
    ),
    (
        "model calls have a cost that can be",
        "select id, 'cost ' || cost_usd || ', tokens ' || input_tokens || ' and ' || output_tokens from model_calls "
        "where not isfinite(cost_usd) or cost_usd < 0 or input_tokens < 0 or output_tokens < 0",
        "the memories are whole; the bill of that run is wrong",
    ),
    (
        "reports bill what the calls cost",
        "select r.run_id, 'the report says ' || (r.report ->> 'estimated_cost_usd') || ' USD, its calls ' "
        "|| round(coalesce(c.cost, 0), 6) from night_reports r left join (select run_id, sum(cost_usd) as cost "
        "from model_calls where mode <> 'cache' group by 1) c on c.run_id = r.run_id "
        "where abs((r.report ->> 'estimated_cost_usd')::double - coalesce(c.cost, 0)) > 1e-6",
        "the memories are whole; the bill of that report is wrong",
    ),
    (
        "token counts are positive",
        "select id, 'token_count is ' || token_count from memories where token_count < 1",
        _RESTORE,
    ),
    (
        "the audit log is one unbroken chain for every memory",
        "select row_id, 'entry ' || sequence || ' does not begin where the one before ended' from (select row_id, "
        "sequence, before_hash, action, lag(after_hash) over (partition by row_id order by sequence) as previous "
        "from audit_log where table_name = 'memories' and after_state is not null) "
        "where action = 'update' and before_hash is distinct from previous",
        "something wrote past the audit log; compare with a snapshot",
    ),
    (
        "audit entries hash to what they say",
        "select 'entry ' || sequence, 'its hash is not that of its state' from audit_log where table_name in "
        "('memories', 'lineage') and ((after_state is not null and after_hash is distinct from sha256(after_state)) "
        "or (before_state is not null and before_hash is distinct from sha256(before_state)))",
        "the audit log was changed; compare with a snapshot",
    ),
    (
        "reports count what the audit log shows",
        "select r.run_id, 'the report says ' || (r.report ->> 'memories_archived') || ' archived, the audit log ' "
        "|| coalesce(a.n, 0) from night_reports r left join (select run_id, count(*) as n from audit_log where "
        "table_name = 'memories' and action = 'update' and before_state ->> 'archived_at' is null "
        "and after_state ->> 'archived_at' is not null group by 1) a on a.run_id = r.run_id "
        # Failed nights were reported without their figures before reports had kinds.
        "where (r.verdict <> 'FAIL' or r.report ->> 'kind' is not null) "
        "and (r.report ->> 'memories_archived')::integer is distinct from coalesce(a.n, 0) "
        # Runs from before the log kept states cannot be counted.
        "and r.run_id in (select run_id from audit_log where after_state is not null)",
        "the memories are whole; the figure of that report is wrong",
    ),
)


def check_store(tx: Transaction, *, deep: bool = False, facts: bool = False) -> list[Finding]:
    """Everything that is wrong with the store, at most twenty findings a rule; empty when it is sound.

    Contents are hashed again; `deep` also recomputes ratios, sources, chains and the audit log, and `facts` reads every
    abstraction against its sources.
    """
    findings = []
    for rule, query, mend in (*_RULES, *(_DEEP_RULES if deep else ())):
        rows = tx.execute(f"select * from ({query}) order by 1 limit {_MAX_PER_RULE}").fetchall()
        findings += [Finding(rule, str(where), str(problem), mend) for where, problem in rows]
    return findings + _wrong_hashes(tx) + (_lost_facts(tx) if facts else [])


def _lost_facts(tx: Transaction) -> list[Finding]:
    """What abstractions do not say of their direct sources, read by `wording.witness`, which made none of them."""
    found = []
    cursor = tx.execute(
        "select m.id, any_value(m.content), list(s.content order by s.id) from memories m join lineage l on "
        "l.memory_id = m.id and l.relation in ('distilled', 'merged', 'canonical') join memories s on "
        "s.id = l.source_id "
        "where m.source_connector = 'night' and m.rolled_back_at is null group by m.id order by m.id"
    )
    while rows := cursor.fetchmany(500):
        for memory_id, content, sources in rows:
            lost = what_is_kept(sources, content).lost
            if lost:
                words = ", ".join(f"the {said.kind} '{said.words}'" for said in lost[:3])
                more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
                mend = f"its sources are archived whole: 'memory-pipeline rollback --abstraction {memory_id}'"
                found.append(
                    Finding("abstractions say what their sources say", memory_id, f"lacks {words}{more}", mend)
                )
            if len(found) >= _MAX_PER_RULE:
                return found
    return found


def _wrong_hashes(tx: Transaction) -> list[Finding]:
    found = []
    cursor = tx.execute("select id, content, content_hash, shape_hash, importance from memories order by id")
    while rows := cursor.fetchmany(2000):
        for memory_id, content, recorded, shape, importance in rows:
            if content_hash(content) != recorded or shape_hash(content) != shape:
                found.append(
                    Finding("content matches its hashes", memory_id, "the content is not what was imported", _RESTORE)
                )
            if not math.isfinite(importance):
                found.append(Finding("importance is a number", memory_id, f"importance is {importance}", _RESTORE))
            if len(found) >= _MAX_PER_RULE:
                return found
    return found


def sources_fingerprint(tx: Transaction) -> str:
    """SHA-256 over id, content, categories and creation time of every raw memory: what law 1 keeps still."""
    digest = hashlib.sha256()
    cursor = tx.execute(
        "select id, content, array_to_string(categories, ','), created_at::text from memories "
        "where source_connector <> 'night' order by id"
    )
    while rows := cursor.fetchmany(5000):
        for row in rows:
            digest.update("\x1f".join(str(part) for part in row).encode() + b"\x1e")
    return digest.hexdigest()
