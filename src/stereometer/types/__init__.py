"""The nouns of the house: requests, answers, items, scores, estimates, results. Standard library
only.

A measure turns an item into requests, answers into a score, scores into estimates. A backend
answers requests and knows nothing of stereotypes.
"""

from stereometer.types.answers import (
    BOUNDARY,
    FILTERED,
    NOT_FINITE,
    TOO_LONG,
    UNWRITTEN,
    Answer,
    Encode,
    Encoding,
    Row,
)
from stereometer.types.backend import (
    KEPT_TOGETHER,
    Abilities,
    Backend,
    Charges,
    ModelCard,
    NamesTokens,
    WritesTokens,
)
from stereometer.types.digest import digest_of, digest_of_file
from stereometer.types.items import (
    VARIANTS,
    Item,
    ItemDefaults,
    OutOfScope,
    Score,
    Skip,
    Slice,
    System,
    Variant,
)
from stereometer.types.jobs import Asking, Job, Stopping
from stereometer.types.method import Exchanged, Measure, Method, Needs, NoOptions, Notes, Requests
from stereometer.types.opener import Memory, ModelSpec, Opener
from stereometer.types.requests import (
    HIDDEN,
    SET_DISTANCES,
    WORD_MASSES,
    CausalTokens,
    Continuation,
    Follows,
    Generate,
    MaskedBlank,
    MaskedTokens,
    NextTokens,
    Request,
    SpanVectors,
    WholeText,
)
from stereometer.types.results import RESULT_SCHEMA, STATISTICS, Estimate, Published, Result
from stereometer.types.settings import Settings

__all__ = [
    "BOUNDARY",
    "FILTERED",
    "HIDDEN",
    "KEPT_TOGETHER",
    "NOT_FINITE",
    "RESULT_SCHEMA",
    "SET_DISTANCES",
    "STATISTICS",
    "TOO_LONG",
    "UNWRITTEN",
    "VARIANTS",
    "WORD_MASSES",
    "Abilities",
    "Answer",
    "Asking",
    "Backend",
    "CausalTokens",
    "Charges",
    "Continuation",
    "Encode",
    "Encoding",
    "Estimate",
    "Exchanged",
    "Follows",
    "Generate",
    "Item",
    "ItemDefaults",
    "Job",
    "MaskedBlank",
    "MaskedTokens",
    "Measure",
    "Memory",
    "Method",
    "ModelCard",
    "ModelSpec",
    "NamesTokens",
    "Needs",
    "NextTokens",
    "NoOptions",
    "Notes",
    "Opener",
    "OutOfScope",
    "Published",
    "Request",
    "Requests",
    "Result",
    "Row",
    "Score",
    "Settings",
    "Skip",
    "Slice",
    "SpanVectors",
    "Stopping",
    "System",
    "Variant",
    "WholeText",
    "WritesTokens",
    "digest_of",
    "digest_of_file",
]
