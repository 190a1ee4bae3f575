-- What a correction has made untrue of rollups and of what is told of a project (no level), until it is made again.
create table if not exists stale_pages (
    project_id text not null,
    level text not null,
    period text not null
);
