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
