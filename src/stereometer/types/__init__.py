"""The nouns of the house: requests, answers, items, scores, estimates, results. Standard library
only.

A measure turns an item into requests, answers into a score, scores into estimates. A backend
answers requests and knows nothing of stereotypes.
"""

from stereometer.types.backend import KEPT_TOGETHER as KEPT_TOGETHER
from stereometer.types.backend import Abilities as Abilities
from stereometer.types.backend import Backend as Backend
from stereometer.types.backend import Charges as Charges
from stereometer.types.backend import ModelCard as ModelCard
from stereometer.types.backend import NamesTokens as NamesTokens
from stereometer.types.backend import WritesTokens as WritesTokens
from stereometer.types.document import digest_of as digest_of
from stereometer.types.document import digest_of_file as digest_of_file
from stereometer.types.items import VARIANTS as VARIANTS
from stereometer.types.items import Item as Item
from stereometer.types.items import ItemDefaults as ItemDefaults
from stereometer.types.items import OutOfScope as OutOfScope
from stereometer.types.items import Score as Score
from stereometer.types.items import Skip as Skip
from stereometer.types.items import Slice as Slice
from stereometer.types.items import System as System
from stereometer.types.items import Variant as Variant
from stereometer.types.method import Asking as Asking
from stereometer.types.method import Exchanged as Exchanged
from stereometer.types.method import Job as Job
from stereometer.types.method import Measure as Measure
from stereometer.types.method import Method as Method
from stereometer.types.method import Needs as Needs
from stereometer.types.method import NoOptions as NoOptions
from stereometer.types.method import Notes as Notes
from stereometer.types.method import Requests as Requests
from stereometer.types.method import Settings as Settings
from stereometer.types.method import Stopping as Stopping
from stereometer.types.opener import Memory as Memory
from stereometer.types.opener import ModelSpec as ModelSpec
from stereometer.types.opener import Opener as Opener
from stereometer.types.requests import BOUNDARY as BOUNDARY
from stereometer.types.requests import FILTERED as FILTERED
from stereometer.types.requests import HIDDEN as HIDDEN
from stereometer.types.requests import NOT_FINITE as NOT_FINITE
from stereometer.types.requests import SET_DISTANCES as SET_DISTANCES
from stereometer.types.requests import TOO_LONG as TOO_LONG
from stereometer.types.requests import UNWRITTEN as UNWRITTEN
from stereometer.types.requests import WORD_MASSES as WORD_MASSES
from stereometer.types.requests import Answer as Answer
from stereometer.types.requests import CausalTokens as CausalTokens
from stereometer.types.requests import Continuation as Continuation
from stereometer.types.requests import Encode as Encode
from stereometer.types.requests import Encoding as Encoding
from stereometer.types.requests import Follows as Follows
from stereometer.types.requests import Generate as Generate
from stereometer.types.requests import MaskedBlank as MaskedBlank
from stereometer.types.requests import MaskedTokens as MaskedTokens
from stereometer.types.requests import NextTokens as NextTokens
from stereometer.types.requests import Request as Request
from stereometer.types.requests import Row as Row
from stereometer.types.requests import SpanVectors as SpanVectors
from stereometer.types.requests import WholeText as WholeText
from stereometer.types.results import RESULT_SCHEMA as RESULT_SCHEMA
from stereometer.types.results import STATISTICS as STATISTICS
from stereometer.types.results import Estimate as Estimate
from stereometer.types.results import Published as Published
from stereometer.types.results import Result as Result
