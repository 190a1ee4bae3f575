-- Whether a question was asked once more, with what was wrong with the first answer. An index keeps its table from
-- being altered.
drop index if exists model_calls_run;
alter table model_calls add column if not exists asked_again boolean default false;
alter table model_calls alter asked_again set not null;
create index if not exists model_calls_run on model_calls (run_id);
