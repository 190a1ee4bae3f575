-- Memories, their vectors, where they came from and what replaced them.
-- Times are UTC. Vectors of any dimension are kept; `dimension` says which.
create sequence audit_sequence;

create table memories (
    id text primary key,
    project_id text not null,
    content text not null,
    memory_type text not null,
    categories text[] not null,
    tags text[] not null,
    importance double not null check (importance between 0 and 3),
    abstraction_level integer not null check (abstraction_level between 0 and 3),
    pattern_type text,
    confidence_score double check (confidence_score between 0 and 1),
    consolidation_method text,
    token_count integer not null,
    content_hash text not null,
    shape_hash text not null,
    created_at timestamp not null,
    created_at_quality text not null,
    effective_date timestamp not null,
    updated_at timestamp,
    source_connector text not null,
    source_file text,
    source_line integer,
    archived_by text,
    archived_at timestamp,
    consolidated_into_id text,
    compressed_from text,
    importance_before double,
    is_canonical boolean not null default false,
    pinned boolean not null default false,
    reuse_count integer not null default 0,
    useful_count integer not null default 0
);

create table embeddings (
    memory_id text not null,
    model text not null,
    dimension integer not null,
    vector float[] not null,
    primary key (memory_id, model)
);

create table lineage (
    memory_id text not null,
    source_id text not null,
    relation text not null,
    similarity double not null,
    primary key (memory_id, source_id)
);

create table conflicts (
    project_id text not null,
    a text not null,
    b text not null,
    kind text not null,
    detail text not null,
    score double not null,
    found_at timestamp not null,
    resolution text,
    primary key (a, b)
);

create table compression_log (
    id text primary key,
    cluster_fingerprint text not null,
    policy text not null,
    compressed_memory_id text,
    status text not null check (status in ('compressed', 'skipped', 'failed')),
    reason text,
    member_count integer not null,
    compression_ratio double,
    run_id text not null,
    created_at timestamp not null
);
create index compression_log_fingerprint on compression_log (cluster_fingerprint);
create index compression_log_created on compression_log (created_at);
create index compression_log_run on compression_log (run_id);
-- What the nights themselves need: the lease, the similarity cache, reports, notices, quarantine.
create table lease (
    name text primary key,
    holder text not null,
    host text not null,
    pid integer not null,
    run_id text not null,
    acquired_at timestamp not null,
    heartbeat_at timestamp not null
);

-- A cache: every pair among `compared` memories of one model with score >= its floor.
create table similarity_edges (
    model text not null,
    project_id text not null,
    a text not null,
    b text not null,
    score double not null,
    conflict_kind text,
    conflict_detail text
);

create table compared (
    model text not null,
    project_id text not null,
    memory_id text not null,
    floor double not null,
    primary key (memory_id, model)
);

create table night_reports (
    run_id text primary key,
    partition_date date not null,
    verdict text not null,
    report text not null,
    written_at timestamp not null
);

create table notices (
    id text primary key,
    run_id text not null,
    recipient text not null,
    priority text not null,
    subject text not null,
    body text not null,
    created_at timestamp not null,
    delivered_at timestamp,
    delivery_error text
);

create table quarantine (
    file text not null,
    line integer not null,
    reason text not null,
    excerpt text not null,
    first_seen_at timestamp not null,
    primary key (file, line, reason)
);

create table night_errors (
    run_id text not null,
    cluster_id text not null,
    stage text not null,
    error text not null,
    happened_at timestamp not null
);
-- What grows out of memories: causal atoms, playbook entries, relationship patterns.
create table atoms (
    id text primary key,
    project_id text not null,
    subject text not null,
    action text not null,
    outcome text not null,
    consequences text not null,
    confidence double not null check (confidence between 0 and 1),
    source_ids text[] not null,
    created_at timestamp not null,
    strengthened_at timestamp
);

create table playbook_entries (
    id text primary key,
    project_id text not null,
    category text not null,
    content text not null,
    confidence double not null check (confidence between 0 and 1),
    source_ids text[] not null,
    created_at timestamp not null,
    updated_at timestamp not null
);

create table patterns (
    id text primary key,
    project_id text not null,
    content text not null,
    confidence double not null,
    last_confirmed_at timestamp not null,
    contradictions integer not null
);
-- Every write leaves a trace, and the first law is kept by the store itself: no memory row is deleted,
-- and no source's content, categories or creation time changes. The writer sets the variables
-- `audit_actor` and `audit_run` at the start of its transaction.
create table audit_log (
    sequence bigint primary key,
    happened_at timestamp not null,
    actor text not null,
    run_id text,
    table_name text not null,
    row_id text not null,
    action text not null,
    before_hash text,
    after_hash text
);

create macro memory_state(importance, archived_by, archived_at, consolidated_into_id, importance_before, pinned, reuse_count, useful_count) as
    sha256(concat_ws('|', importance, coalesce(archived_by, ''), coalesce(archived_at::text, ''), coalesce(consolidated_into_id, ''),
        coalesce(importance_before::text, ''), pinned, reuse_count, useful_count));

create trigger memories_inserted after insert on memories referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'memories', n.id, 'insert', null,
    memory_state(n.importance, n.archived_by, n.archived_at, n.consolidated_into_id, n.importance_before, n.pinned, n.reuse_count, n.useful_count)
from n;

create trigger memories_updated after update on memories referencing old table as o new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'memories', n.id,
    case when o.content is distinct from n.content or o.content_hash is distinct from n.content_hash
            or o.categories is distinct from n.categories or o.created_at is distinct from n.created_at
            or o.project_id is distinct from n.project_id
        then error('law 1: content, categories, project and creation time of memory ' || n.id || ' never change')
        else 'update' end,
    memory_state(o.importance, o.archived_by, o.archived_at, o.consolidated_into_id, o.importance_before, o.pinned, o.reuse_count, o.useful_count),
    memory_state(n.importance, n.archived_by, n.archived_at, n.consolidated_into_id, n.importance_before, n.pinned, n.reuse_count, n.useful_count)
from o join n on o.id = n.id;

create trigger memories_deleted after delete on memories referencing old table as o for each statement
insert into audit_log
select 0, now() at time zone 'UTC', '', null, 'memories', error('law 1: memory ' || o.id || ' is never deleted'), 'delete', null, null from o;

create trigger lineage_inserted after insert on lineage referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'lineage', n.memory_id || ' <- ' || n.source_id, 'insert', null, sha256(concat_ws('|', n.relation, n.similarity))
from n;

create trigger compression_log_inserted after insert on compression_log referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'compression_log', n.id, 'insert', null, sha256(concat_ws('|', n.cluster_fingerprint, n.status, coalesce(n.reason, '')))
from n;

create trigger conflicts_inserted after insert on conflicts referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'conflicts', n.a || ' ~ ' || n.b, 'insert', null, sha256(concat_ws('|', n.kind, n.detail))
from n;
