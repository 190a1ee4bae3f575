-- Stores of before the first release, which went by other migrations: what they lack, and what nothing uses any more.
alter table memories add column if not exists rolled_back_at timestamp;
alter table compression_log add column if not exists rolled_back_at timestamp;
alter table atoms add column if not exists retracted_at timestamp;
alter table atoms add column if not exists stated_by text;
alter table playbook_entries add column if not exists retracted_at timestamp;
alter table audit_log add column if not exists before_state text;
alter table audit_log add column if not exists after_state text;
alter table conflicts add column if not exists resolved_at timestamp;
alter table conflicts add column if not exists resolved_by text;
alter table conflicts add column if not exists kept_id text;
alter table conflicts add column if not exists scope_a text;
alter table conflicts add column if not exists scope_b text;
alter table conflicts add column if not exists note text;
alter table conflicts add column if not exists resolution_run text;
drop macro if exists memory_state;
drop macro if exists memory_json;
drop table if exists patterns;
delete from schema_migrations;
