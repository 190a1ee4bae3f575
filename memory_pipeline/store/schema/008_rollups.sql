-- What days, weeks, months and years amount to. `entries` is JSON: the next level is made from it.
create table if not exists rollups (
    id text primary key,
    project_id text not null,
    level text not null check (level in ('day', 'week', 'month', 'year')),
    period text not null,
    starts_at timestamp not null,
    ends_at timestamp not null,
    content text not null,
    entries text not null,
    below_ids text[] not null,
    memory_ids text[] not null,
    notes integer not null,
    token_count integer not null,
    budget_tokens integer not null,
    rules_version integer not null
);
