"""The nouns of the house: requests, answers, items, scores, estimates, results. Standard library
only.

A measure turns an item into requests, answers into a score, scores into estimates. A backend
answers requests and knows nothing of stereotypes.
"""

from stereometer.core.types.backend import ORIGIN as ORIGIN
from stereometer.core.types.backend import Abilities as Abilities
from stereometer.core.types.backend import Backend as Backend
from stereometer.core.types.backend import Charges as Charges
from stereometer.core.types.backend import ModelCard as ModelCard
from stereometer.core.types.backend import NamesTokens as NamesTokens
from stereometer.core.types.backend import WritesTokens as WritesTokens
from stereometer.core.types.document import digest_of as digest_of
from stereometer.core.types.document import digest_of_file as digest_of_file
from stereometer.core.types.items import Item as Item
from stereometer.core.types.items import ItemDefaults as ItemDefaults
from stereometer.core.types.items import OutOfScope as OutOfScope
from stereometer.core.types.items import Score as Score
from stereometer.core.types.items import Scorer as Scorer
from stereometer.core.types.items import Skip as Skip
from stereometer.core.types.items import Slice as Slice
from stereometer.core.types.items import Variant as Variant
from stereometer.core.types.method import Asking as Asking
from stereometer.core.types.method import Exchanged as Exchanged
from stereometer.core.types.method import Job as Job
from stereometer.core.types.method import Measure as Measure
from stereometer.core.types.method import Method as Method
from stereometer.core.types.method import NoOptions as NoOptions
from stereometer.core.types.method import Notes as Notes
from stereometer.core.types.method import Requests as Requests
from stereometer.core.types.method import Settings as Settings
from stereometer.core.types.opener import Memory as Memory
from stereometer.core.types.opener import ModelSpec as ModelSpec
from stereometer.core.types.opener import Opener as Opener
from stereometer.core.types.requests import BOUNDARY as BOUNDARY
from stereometer.core.types.requests import FILTERED as FILTERED
from stereometer.core.types.requests import HIDDEN as HIDDEN
from stereometer.core.types.requests import NO_ROOM as NO_ROOM
from stereometer.core.types.requests import NO_TOKEN as NO_TOKEN
from stereometer.core.types.requests import NOT_FINITE as NOT_FINITE
from stereometer.core.types.requests import SET_DISTANCES as SET_DISTANCES
from stereometer.core.types.requests import TOO_LONG as TOO_LONG
from stereometer.core.types.requests import UNNAMED as UNNAMED
from stereometer.core.types.requests import UNWRITTEN as UNWRITTEN
from stereometer.core.types.requests import WORD_MASSES as WORD_MASSES
from stereometer.core.types.requests import Answer as Answer
from stereometer.core.types.requests import CausalTokens as CausalTokens
from stereometer.core.types.requests import Continuation as Continuation
from stereometer.core.types.requests import Encode as Encode
from stereometer.core.types.requests import Encoding as Encoding
from stereometer.core.types.requests import Follows as Follows
from stereometer.core.types.requests import Generate as Generate
from stereometer.core.types.requests import MaskedBlank as MaskedBlank
from stereometer.core.types.requests import MaskedTokens as MaskedTokens
from stereometer.core.types.requests import NextTokens as NextTokens
from stereometer.core.types.requests import Options as Options
from stereometer.core.types.requests import Request as Request
from stereometer.core.types.requests import Row as Row
from stereometer.core.types.requests import SpanVectors as SpanVectors
from stereometer.core.types.requests import WholeText as WholeText
from stereometer.core.types.results import RESULT_SCHEMA as RESULT_SCHEMA
from stereometer.core.types.results import Estimate as Estimate
from stereometer.core.types.results import Published as Published
from stereometer.core.types.results import Result as Result
from stereometer.core.types.wrapper import Wrapper as Wrapper
