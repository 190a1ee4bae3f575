-- The headings above a memory in its source, and the words that lead in to it. Of what was read before they are unknown.
alter table memories add column if not exists headings text[] default [];
alter table memories alter headings set not null;
alter table memories add column if not exists lead_in text default '';
alter table memories alter lead_in set not null;
