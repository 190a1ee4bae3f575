-- Whether a question was asked once more, with what was wrong with the first answer.
alter table model_calls add column if not exists asked_again boolean default false;
alter table model_calls alter asked_again set not null;
