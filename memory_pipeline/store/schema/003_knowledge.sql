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
