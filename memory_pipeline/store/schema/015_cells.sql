-- Which memories are compared with which. Lines of one shape, and memories of a crowd, are compared within a cell
-- alone; a memory keeps its cell for good, so that what a night archives never changes what the rest is compared with.
create table comparison_cells (
    model text not null,
    project_id text not null,
    memory_id text not null,
    kind text not null check (kind in ('shape', 'crowd')),
    member_of text not null,
    cell integer not null,
    primary key (memory_id, model, kind)
);
