-- The shape of each line, by which readings are found: derived from its words.
create table if not exists line_shapes (
    memory_id text primary key,
    shape text not null
);

-- Readings are no longer compared in cells: they are not compared at all.
delete from comparison_cells
where kind = 'shape';
