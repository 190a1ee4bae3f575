-- How much of its context window each session of an agent has used, as it last said.
create table if not exists session_usage (
    project_id text not null,
    session_id text not null,
    tokens_used bigint not null,
    window_tokens bigint not null,
    reported_at timestamp not null,
    reported_by text not null,
    primary key (project_id, session_id)
);
