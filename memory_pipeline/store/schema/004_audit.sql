-- Every write leaves a trace, and the first law is kept by the store itself: no memory row is deleted,
-- and no source's content, categories or creation time changes. The writer sets the variables
-- `audit_actor` and `audit_run` at the start of its transaction.
create table audit_log (
    sequence bigint primary key,
    happened_at timestamp not null,
    actor text not null,
    run_id text,
    table_name text not null,
    row_id text not null,
    action text not null,
    before_hash text,
    after_hash text
);

create macro memory_state(importance, archived_by, archived_at, consolidated_into_id, importance_before, pinned, reuse_count, useful_count) as
    sha256(concat_ws('|', importance, coalesce(archived_by, ''), coalesce(archived_at::text, ''), coalesce(consolidated_into_id, ''),
        coalesce(importance_before::text, ''), pinned, reuse_count, useful_count));

create trigger memories_inserted after insert on memories referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'memories', n.id, 'insert', null,
    memory_state(n.importance, n.archived_by, n.archived_at, n.consolidated_into_id, n.importance_before, n.pinned, n.reuse_count, n.useful_count)
from n;

create trigger memories_updated after update on memories referencing old table as o new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'memories', n.id,
    case when o.content is distinct from n.content or o.content_hash is distinct from n.content_hash
            or o.categories is distinct from n.categories or o.created_at is distinct from n.created_at
            or o.project_id is distinct from n.project_id
        then error('law 1: content, categories, project and creation time of memory ' || n.id || ' never change')
        else 'update' end,
    memory_state(o.importance, o.archived_by, o.archived_at, o.consolidated_into_id, o.importance_before, o.pinned, o.reuse_count, o.useful_count),
    memory_state(n.importance, n.archived_by, n.archived_at, n.consolidated_into_id, n.importance_before, n.pinned, n.reuse_count, n.useful_count)
from o join n on o.id = n.id;

create trigger memories_deleted after delete on memories referencing old table as o for each statement
insert into audit_log
select 0, now() at time zone 'UTC', '', null, 'memories', error('law 1: memory ' || o.id || ' is never deleted'), 'delete', null, null from o;

create trigger lineage_inserted after insert on lineage referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'lineage', n.memory_id || ' <- ' || n.source_id, 'insert', null, sha256(concat_ws('|', n.relation, n.similarity))
from n;

create trigger compression_log_inserted after insert on compression_log referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'compression_log', n.id, 'insert', null, sha256(concat_ws('|', n.cluster_fingerprint, n.status, coalesce(n.reason, '')))
from n;

create trigger conflicts_inserted after insert on conflicts referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'conflicts', n.a || ' ~ ' || n.b, 'insert', null, sha256(concat_ws('|', n.kind, n.detail))
from n;
