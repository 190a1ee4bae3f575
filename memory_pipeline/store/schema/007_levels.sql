-- Levels: how a person settled a conflict, which pattern stands behind which playbook entry.
alter table conflicts add column resolved_at timestamp;
alter table conflicts add column resolved_by text;
alter table conflicts add column kept_id text;
alter table conflicts add column scope_a text;
alter table conflicts add column scope_b text;
alter table conflicts add column note text;
alter table conflicts add column resolution_run text;

-- One row a pattern or principle that was held against the playbook, with what it says there. An entry follows
-- from its contributions, so that taking one back leaves what the others say.
create table playbook_contributions (
    memory_id text primary key,
    entry_id text not null,
    guidance text not null,
    category text not null,
    confidence double not null check (confidence between 0 and 1),
    level integer not null,
    status text not null check (status in ('created', 'updated', 'withdrawn')),
    run_id text not null,
    decided_at timestamp not null
);

create table playbook_embeddings (
    entry_id text not null,
    model text not null,
    dimension integer not null,
    vector float[] not null,
    primary key (entry_id, model)
);

create trigger playbook_contributions_inserted after insert on playbook_contributions referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'playbook_contributions', n.memory_id, 'insert', null, sha256(to_json(n)::text), null, json_object('status', n.status, 'entry_id', n.entry_id)::text
from n;

create trigger playbook_contributions_updated after update on playbook_contributions referencing old table as o new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'playbook_contributions', n.memory_id, 'update', sha256(to_json(o)::text), sha256(to_json(n)::text),
    json_object('status', o.status, 'entry_id', o.entry_id)::text, json_object('status', n.status, 'entry_id', n.entry_id)::text
from o join n on o.memory_id = n.memory_id;
