-- What agents and people said about the use of what was extracted from conversations.
create table if not exists extraction_feedback (
    id text primary key,
    project_id text not null,
    extraction_id text not null,
    kind text not null,
    was_useful boolean not null,
    said_at timestamp not null,
    said_by text not null
);
