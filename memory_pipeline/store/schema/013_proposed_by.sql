-- Which model proposed an extraction. Of those that a model proposed before, that is unknown.
alter table extractions add column if not exists proposed_by text default '';
alter table extractions alter proposed_by set not null;
