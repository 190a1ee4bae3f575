-- Undo, history and review: the audit log keeps states beside hashes, abstractions can be retired, and
-- proposals wait for a person. Derived data (the similarity cache) and the lease's heartbeat are not
-- knowledge and stay out of the log.
alter table memories add column rolled_back_at timestamp;
alter table compression_log add column rolled_back_at timestamp;
alter table atoms add column retracted_at timestamp;
alter table playbook_entries add column retracted_at timestamp;
alter table audit_log add column before_state text;
alter table audit_log add column after_state text;

create table rollbacks (
    id text primary key,
    rolled_back_at timestamp not null,
    actor text not null,
    scope text not null,
    run_ids text[] not null,
    restored_ids text[] not null,
    retired_ids text[] not null
);

create table proposals (
    id text primary key,
    project_id text not null,
    cluster_fingerprint text not null,
    policy text not null,
    run_id text not null,
    partition_date date not null,
    draft text not null,
    status text not null check (status in ('pending', 'approved', 'rejected', 'withdrawn')),
    proposed_at timestamp not null,
    decided_at timestamp,
    decided_by text,
    reason text
);

create macro memory_json(importance, archived_by, archived_at, consolidated_into_id, importance_before, pinned, reuse_count, useful_count, rolled_back_at) as
    json_object('importance', importance, 'archived_by', archived_by, 'archived_at', archived_at::text,
        'consolidated_into_id', consolidated_into_id, 'importance_before', importance_before, 'pinned', pinned,
        'reuse_count', reuse_count, 'useful_count', useful_count, 'rolled_back_at', rolled_back_at::text)::text;

create or replace trigger memories_inserted after insert on memories referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'memories', s.id, 'insert', null, sha256(s.state), null, s.state
from (
    select id, memory_json(importance, archived_by, archived_at, consolidated_into_id, importance_before, pinned, reuse_count, useful_count, rolled_back_at) as state
    from n order by id
) s;

create or replace trigger memories_updated after update on memories referencing old table as o new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'memories', s.id, s.action, sha256(s.old_state), sha256(s.new_state), s.old_state, s.new_state
from (
    select n.id,
        case when o.content is distinct from n.content or o.content_hash is distinct from n.content_hash
                or o.categories is distinct from n.categories or o.created_at is distinct from n.created_at
                or o.project_id is distinct from n.project_id
            then error('law 1: content, categories, project and creation time of memory ' || n.id || ' never change')
            else 'update' end as action,
        memory_json(o.importance, o.archived_by, o.archived_at, o.consolidated_into_id, o.importance_before, o.pinned, o.reuse_count, o.useful_count, o.rolled_back_at) as old_state,
        memory_json(n.importance, n.archived_by, n.archived_at, n.consolidated_into_id, n.importance_before, n.pinned, n.reuse_count, n.useful_count, n.rolled_back_at) as new_state
    from o join n on o.id = n.id order by n.id
) s;

create or replace trigger memories_deleted after delete on memories referencing old table as o for each statement
insert into audit_log
select 0, now() at time zone 'UTC', '', null, 'memories', error('law 1: memory ' || o.id || ' is never deleted'), 'delete', null, null, null, null from o;

create or replace trigger lineage_inserted after insert on lineage referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'lineage', n.memory_id || ' <- ' || n.source_id, 'insert', null, sha256(to_json(n)::text), null, to_json(n)::text
from n;

create trigger lineage_deleted after delete on lineage referencing old table as o for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'lineage', o.memory_id || ' <- ' || o.source_id, 'delete', sha256(to_json(o)::text), null, to_json(o)::text, null
from o;

create or replace trigger compression_log_inserted after insert on compression_log referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'compression_log', n.id, 'insert', null, sha256(to_json(n)::text), null, to_json(n)::text
from n;

create trigger compression_log_updated after update on compression_log referencing old table as o new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'compression_log', n.id, 'update', sha256(to_json(o)::text), sha256(to_json(n)::text), to_json(o)::text, to_json(n)::text
from o join n on o.id = n.id;

create or replace trigger conflicts_inserted after insert on conflicts referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'conflicts', n.a || ' ~ ' || n.b, 'insert', null, sha256(to_json(n)::text), null, to_json(n)::text
from n;

create trigger conflicts_updated after update on conflicts referencing old table as o new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'conflicts', n.a || ' ~ ' || n.b, 'update', sha256(to_json(o)::text), sha256(to_json(n)::text), to_json(o)::text, to_json(n)::text
from o join n on o.a = n.a and o.b = n.b;

create trigger embeddings_inserted after insert on embeddings referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'embeddings', g.model, 'insert', null, g.digest, null, g.state
from (
    select model, sha256(string_agg(memory_id, ',' order by memory_id)) as digest,
        json_object('vectors', count(*), 'first', min(memory_id), 'last', max(memory_id))::text as state
    from n group by model
) g;

create trigger night_reports_inserted after insert on night_reports referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'night_reports', n.run_id, 'insert', null, sha256(n.report), null, json_object('partition', n.partition_date::text, 'verdict', n.verdict)::text
from n;

create trigger night_reports_updated after update on night_reports referencing old table as o new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'night_reports', n.run_id, 'update', sha256(o.report), sha256(n.report),
    json_object('partition', o.partition_date::text, 'verdict', o.verdict)::text,
    json_object('partition', n.partition_date::text, 'verdict', n.verdict)::text
from o join n on o.run_id = n.run_id;

create trigger quarantine_inserted after insert on quarantine referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'quarantine', n.file || ':' || n.line, 'insert', null, sha256(n.reason), null, json_object('reason', n.reason)::text
from n;

create trigger rollbacks_inserted after insert on rollbacks referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'rollbacks', n.id, 'insert', null, sha256(to_json(n)::text), null, to_json(n)::text
from n;

create trigger proposals_inserted after insert on proposals referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'proposals', n.id, 'insert', null, sha256(to_json(n)::text), null, json_object('status', n.status, 'reason', n.reason)::text
from n;

create trigger proposals_updated after update on proposals referencing old table as o new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'proposals', n.id, 'update', sha256(to_json(o)::text), sha256(to_json(n)::text),
    json_object('status', o.status, 'reason', o.reason)::text, json_object('status', n.status, 'reason', n.reason)::text
from o join n on o.id = n.id;

create trigger atoms_inserted after insert on atoms referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'atoms', n.id, 'insert', null, sha256(to_json(n)::text), null, to_json(n)::text
from n;

create trigger atoms_updated after update on atoms referencing old table as o new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'atoms', n.id, 'update', sha256(to_json(o)::text), sha256(to_json(n)::text), to_json(o)::text, to_json(n)::text
from o join n on o.id = n.id;

create trigger playbook_entries_inserted after insert on playbook_entries referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'playbook_entries', n.id, 'insert', null, sha256(to_json(n)::text), null, to_json(n)::text
from n;

create trigger playbook_entries_updated after update on playbook_entries referencing old table as o new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'playbook_entries', n.id, 'update', sha256(to_json(o)::text), sha256(to_json(n)::text), to_json(o)::text, to_json(n)::text
from o join n on o.id = n.id;

-- Stores from before this migration: their history begins with the state that they have now.
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', 'migration', null, 'memories', s.id, 'baseline', null, sha256(s.state), null, s.state
from (
    select id, memory_json(importance, archived_by, archived_at, consolidated_into_id, importance_before, pinned, reuse_count, useful_count, rolled_back_at) as state
    from memories order by id
) s;
