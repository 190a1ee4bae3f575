-- What models were asked and what it cost, and what grows out of their answers: the answer cache, the calls,
-- the batches under way, and the causal findings that become atoms.
create table model_answers (
    prompt_hash text primary key,
    model text not null,
    prompt_version text not null,
    answer text not null,
    stop_reason text,
    answered_at timestamp not null,
    run_id text not null
);

create table model_calls (
    id text primary key,
    run_id text not null,
    prompt_hash text not null,
    model text not null,
    mode text not null check (mode in ('live', 'batch', 'cache')),
    outcome text not null check (outcome in ('answered', 'failed', 'unknown')),
    input_tokens bigint not null,
    output_tokens bigint not null,
    cost_usd double not null,
    latency_ms bigint not null,
    masked_secrets integer not null,
    masked_personal integer not null,
    error text,
    called_at timestamp not null
);
create index model_calls_run on model_calls (run_id);

create table model_batches (
    id text primary key,
    batch_id text,
    server text not null,
    model text not null,
    status text not null check (status in ('sending', 'sent', 'collected', 'lost')),
    prompt_hashes text[] not null,
    run_id text not null,
    created_at timestamp not null,
    settled_at timestamp
);

-- One row an abstraction that says what led to what; the atoms step takes up the pending ones.
create table atom_candidates (
    memory_id text primary key,
    project_id text not null,
    subject text not null,
    action text not null,
    outcome text not null,
    consequences text not null,
    status text not null check (status in ('pending', 'created', 'strengthened', 'skipped', 'not_causal', 'withdrawn')),
    reason text,
    atom_id text,
    run_id text not null,
    found_at timestamp not null,
    decided_at timestamp
);

alter table atoms add column stated_by text;

create table atom_embeddings (
    atom_id text not null,
    field text not null,
    model text not null,
    dimension integer not null,
    vector float[] not null,
    primary key (atom_id, field, model)
);

create trigger model_answers_inserted after insert on model_answers referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'model_answers', n.prompt_hash, 'insert', null, sha256(n.answer), null, json_object('model', n.model, 'stop_reason', n.stop_reason)::text
from n;

create trigger model_answers_updated after update on model_answers referencing old table as o new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'model_answers', n.prompt_hash, 'update', sha256(o.answer), sha256(n.answer),
    json_object('model', o.model, 'stop_reason', o.stop_reason)::text, json_object('model', n.model, 'stop_reason', n.stop_reason)::text
from o join n on o.prompt_hash = n.prompt_hash;

create trigger model_calls_inserted after insert on model_calls referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'model_calls', n.id, 'insert', null, sha256(to_json(n)::text), null, to_json(n)::text
from n;

create trigger model_batches_inserted after insert on model_batches referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'model_batches', n.id, 'insert', null, sha256(to_json(n)::text), null, json_object('status', n.status, 'batch_id', n.batch_id)::text
from n;

create trigger model_batches_updated after update on model_batches referencing old table as o new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'model_batches', n.id, 'update', sha256(to_json(o)::text), sha256(to_json(n)::text),
    json_object('status', o.status, 'batch_id', o.batch_id)::text, json_object('status', n.status, 'batch_id', n.batch_id)::text
from o join n on o.id = n.id;

create trigger atom_candidates_inserted after insert on atom_candidates referencing new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'atom_candidates', n.memory_id, 'insert', null, sha256(to_json(n)::text), null, json_object('status', n.status, 'atom_id', n.atom_id)::text
from n;

create trigger atom_candidates_updated after update on atom_candidates referencing old table as o new table as n for each statement
insert into audit_log
select nextval('audit_sequence'), now() at time zone 'UTC', coalesce(getvariable('audit_actor'), 'unknown'), getvariable('audit_run'),
    'atom_candidates', n.memory_id, 'update', sha256(to_json(o)::text), sha256(to_json(n)::text),
    json_object('status', o.status, 'atom_id', o.atom_id)::text, json_object('status', n.status, 'atom_id', n.atom_id)::text
from o join n on o.memory_id = n.memory_id;
