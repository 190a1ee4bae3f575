-- What stood before a day of conversations when it was read, and whether a rollback took the day back: it is read again
-- when it is asked for. What was read before counts as read after every earlier day.
alter table conversation_days add column if not exists basis text default '';
alter table conversation_days alter basis set not null;
alter table conversation_days add column if not exists is_taken_back boolean default false;
alter table conversation_days alter is_taken_back set not null;
