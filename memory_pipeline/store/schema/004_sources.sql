-- What nights have read of their sources: each file as it was, and the memories that came from it.
create table if not exists source_files (
    source text not null,
    file text not null,
    size bigint not null,
    modified_ns bigint not null,
    digest text not null,
    read_as_of timestamp not null,
    pending_from timestamp,
    primary key (source, file)
);

create table if not exists source_entries (
    source text not null,
    memory_id text not null,
    file text not null,
    gone_at timestamp,
    superseded_by text,
    run_id text,
    primary key (source, memory_id)
);

-- Entries that a night saw and left for a later one, as of when they count.
create table if not exists source_pending (
    source text not null,
    memory_id text not null,
    counts_from timestamp not null,
    primary key (source, memory_id)
);

-- What a night read of each source.
create table if not exists source_readings (
    run_id text not null,
    source text not null,
    status text not null,
    error text,
    files integer not null,
    files_read integer not null,
    rows_read integer not null,
    new integer not null,
    changed integer not null,
    gone integer not null,
    quarantined integer not null,
    masked integer not null,
    later integer not null,
    primary key (run_id, source)
);
