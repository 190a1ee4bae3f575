"""The data types of the pipeline: what steps pass to each other, and what the store keeps.

All times are aware UTC datetimes. Every record is frozen, so that a step cannot change a decision of an earlier step.
Every public name of these modules is offered here.
"""

from memory_pipeline.records.cluster import *
from memory_pipeline.records.conversation import *
from memory_pipeline.records.drafts import *
from memory_pipeline.records.identifiers import *
from memory_pipeline.records.memory import *
from memory_pipeline.records.night import *
