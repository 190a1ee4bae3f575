-- What people decided about patterns of how a human and an agent work together; the patterns follow from extractions.
create table if not exists relationship_patterns (
    id text primary key,
    project_id text not null,
    text text not null,
    decision text not null,
    decided_at timestamp not null,
    decided_by text not null
);
