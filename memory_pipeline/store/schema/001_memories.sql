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
