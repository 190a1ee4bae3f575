-- What started flushes and compactions of live sessions, and what became of them.
create table if not exists trigger_events (
    id text primary key,
    project_id text not null,
    session_id text not null,
    agent text not null,
    transcript text not null,
    kind text not null,
    action text not null,
    compactions integer not null,
    tokens_used bigint not null,
    window_tokens bigint not null,
    fired_at timestamp not null,
    fired_by text not null,
    reason text not null,
    outcome text not null,
    done_at timestamp
);
