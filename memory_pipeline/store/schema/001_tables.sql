-- Every table of a store. The columns of memories, links, conflicts, log rows, atoms and playbook entries are those of their
-- records, in whatever order; the triggers follow from records and tables (audit.py).
create sequence if not exists audit_sequence;

create table if not exists schema_migrations (
    number integer primary key,
    name text not null,
    applied_at timestamp not null
);

-- What an agent knows. Times are UTC. Vectors of any dimension are kept; `dimension` says which.
create table if not exists memories (
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
    useful_count integer not null default 0,
    rolled_back_at timestamp
);

create table if not exists embeddings (
    memory_id text not null,
    model text not null,
    dimension integer not null,
    vector float[] not null,
    primary key (memory_id, model)
);

create table if not exists lineage (
    memory_id text not null,
    source_id text not null,
    relation text not null,
    similarity double not null,
    primary key (memory_id, source_id)
);

-- What nights and persons decided.
create table if not exists conflicts (
    project_id text not null,
    a text not null,
    b text not null,
    kind text not null,
    detail text not null,
    score double not null,
    found_at timestamp not null,
    resolution text,
    resolved_at timestamp,
    resolved_by text,
    kept_id text,
    scope_a text,
    scope_b text,
    note text,
    resolution_run text,
    primary key (a, b)
);

create table if not exists compression_log (
    id text primary key,
    cluster_fingerprint text not null,
    policy text not null,
    compressed_memory_id text,
    status text not null check (status in ('compressed', 'skipped', 'failed')),
    reason text,
    member_count integer not null,
    compression_ratio double,
    run_id text not null,
    created_at timestamp not null,
    rolled_back_at timestamp
);
create index if not exists compression_log_fingerprint on compression_log (cluster_fingerprint);
create index if not exists compression_log_created on compression_log (created_at);
create index if not exists compression_log_run on compression_log (run_id);

create table if not exists proposals (
    id text primary key,
    project_id text not null,
    cluster_fingerprint text not null,
    policy text not null,
    run_id text not null,
    partition_date date not null,
    draft text not null,
    status text not null check (status in ('pending', 'approved', 'rejected', 'withdrawn')),
    proposed_at timestamp not null,
    decided_at timestamp,
    decided_by text,
    reason text
);

create table if not exists rollbacks (
    id text primary key,
    rolled_back_at timestamp not null,
    actor text not null,
    scope text not null,
    run_ids text[] not null,
    restored_ids text[] not null,
    retired_ids text[] not null
);

-- What grows out of memories: causal atoms with the findings behind them, and the playbook. A playbook entry follows
-- from its contributions, so that taking one back leaves what the others say.
create table if not exists atoms (
    id text primary key,
    project_id text not null,
    subject text not null,
    action text not null,
    outcome text not null,
    consequences text not null,
    confidence double not null check (confidence between 0 and 1),
    source_ids text[] not null,
    created_at timestamp not null,
    strengthened_at timestamp,
    retracted_at timestamp,
    stated_by text
);

create table if not exists atom_candidates (
    memory_id text primary key,
    project_id text not null,
    subject text not null,
    action text not null,
    outcome text not null,
    consequences text not null,
    status text not null check (status in ('pending', 'created', 'strengthened', 'skipped', 'not_causal', 'withdrawn')),
    reason text,
    atom_id text,
    run_id text not null,
    found_at timestamp not null,
    decided_at timestamp
);

create table if not exists atom_embeddings (
    atom_id text not null,
    field text not null,
    model text not null,
    dimension integer not null,
    vector float[] not null,
    primary key (atom_id, field, model)
);

create table if not exists playbook_entries (
    id text primary key,
    project_id text not null,
    category text not null,
    content text not null,
    confidence double not null check (confidence between 0 and 1),
    source_ids text[] not null,
    created_at timestamp not null,
    updated_at timestamp not null,
    retracted_at timestamp
);

create table if not exists playbook_contributions (
    memory_id text primary key,
    entry_id text not null,
    guidance text not null,
    category text not null,
    confidence double not null check (confidence between 0 and 1),
    level integer not null,
    status text not null check (status in ('created', 'updated', 'withdrawn')),
    run_id text not null,
    decided_at timestamp not null
);

create table if not exists playbook_embeddings (
    entry_id text not null,
    model text not null,
    dimension integer not null,
    vector float[] not null,
    primary key (entry_id, model)
);

-- What models were asked, what they answered, and what it cost.
create table if not exists model_answers (
    prompt_hash text primary key,
    model text not null,
    prompt_version text not null,
    answer text not null,
    stop_reason text,
    answered_at timestamp not null,
    run_id text not null
);

create table if not exists model_calls (
    id text primary key,
    run_id text not null,
    prompt_hash text not null,
    model text not null,
    mode text not null check (mode in ('live', 'batch', 'cache')),
    outcome text not null check (outcome in ('answered', 'failed', 'unknown')),
    input_tokens bigint not null,
    output_tokens bigint not null,
    cost_usd double not null,
    latency_ms bigint not null,
    masked_secrets integer not null,
    masked_personal integer not null,
    error text,
    called_at timestamp not null
);
create index if not exists model_calls_run on model_calls (run_id);

create table if not exists model_batches (
    id text primary key,
    batch_id text,
    server text not null,
    model text not null,
    status text not null check (status in ('sending', 'sent', 'collected', 'lost')),
    prompt_hashes text[] not null,
    run_id text not null,
    created_at timestamp not null,
    settled_at timestamp
);

-- A cache: every pair among `compared` memories of one model with score >= its floor. Lines of one shape, and memories
-- of a crowd, are compared within a cell alone; a memory keeps its cell for good, so that what a night archives never
-- changes what the rest is compared with.
create table if not exists similarity_edges (
    model text not null,
    project_id text not null,
    a text not null,
    b text not null,
    score double not null,
    conflict_kind text,
    conflict_detail text
);

create table if not exists compared (
    model text not null,
    project_id text not null,
    memory_id text not null,
    floor double not null,
    primary key (memory_id, model)
);

create table if not exists comparison_cells (
    model text not null,
    project_id text not null,
    memory_id text not null,
    kind text not null check (kind in ('shape', 'crowd')),
    member_of text not null,
    cell integer not null,
    primary key (memory_id, model, kind)
);

-- How the nights went.
create table if not exists lease (
    name text primary key,
    holder text not null,
    host text not null,
    pid integer not null,
    run_id text not null,
    acquired_at timestamp not null,
    heartbeat_at timestamp not null
);

create table if not exists night_reports (
    run_id text primary key,
    partition_date date not null,
    verdict text not null,
    report text not null,
    written_at timestamp not null
);

create table if not exists night_errors (
    run_id text not null,
    cluster_id text not null,
    stage text not null,
    error text not null,
    happened_at timestamp not null
);

create table if not exists notices (
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

create table if not exists quarantine (
    file text not null,
    line integer not null,
    reason text not null,
    excerpt text not null,
    first_seen_at timestamp not null,
    primary key (file, line, reason)
);

-- What was written when and by whom: hashes of the row before and after, and of most tables its states (migrations.py).
create table if not exists audit_log (
    sequence bigint primary key,
    happened_at timestamp not null,
    actor text not null,
    run_id text,
    table_name text not null,
    row_id text not null,
    action text not null,
    before_hash text,
    after_hash text,
    before_state text,
    after_state text
);
