-- How many minutes the clock of a memory's source was ahead of UTC: texts give days by that clock. What was imported
-- before is given by UTC, as until now.
alter table memories add column if not exists utc_offset integer default 0;
alter table memories alter utc_offset set not null;
