-- What was extracted from conversations, by the run that did. Rows stay; of one id at most one stands (without gone_at).
create table if not exists extractions (
    id text not null,
    project_id text not null,
    day date not null,
    turn_id text not null,
    conversation text not null,
    line integer not null,
    speaker text not null,
    kind text not null,
    text text not null,
    quote text not null,
    significance double not null,
    topics text[] not null,
    rationale text not null,
    priority boolean not null,
    withdraws text[] not null,
    night date not null,
    run_id text not null,
    destination text not null,
    memory_id text,
    gone_at timestamp,
    gone_by text,
    primary key (id, run_id)
);

-- The days of conversations that were read. Of one project and day at most one stands.
create table if not exists conversation_days (
    project_id text not null,
    night date not null,
    run_id text not null,
    digest text not null,
    topics text[] not null,
    coverage text not null,
    is_written boolean not null,
    gone_at timestamp,
    gone_by text,
    primary key (project_id, night, run_id)
);
