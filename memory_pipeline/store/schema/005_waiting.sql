-- Edited and removed words that a reading left for a later night, and the first night that takes what was left.
alter table source_readings add column if not exists edits_later integer default 0;
alter table source_readings alter edits_later set not null;
alter table source_readings add column if not exists waits_for text;
