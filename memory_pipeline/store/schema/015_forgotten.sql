-- What persons had this store forget: the new ids of memories, which are keyed hashes of the old ones, and keyed hashes
-- of the words, so that no import brings them back; and the key of these hashes.
create table if not exists forgotten (
    memory_id text primary key,
    project_id text not null,
    words_hash text,
    forgotten_at timestamp not null,
    forgotten_by text not null,
    forgetting text not null
);
create table if not exists forgotten_key (
    key text primary key
);
