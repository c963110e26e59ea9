"""The text that stands before every sentence where XLNet is asked as in StereoSet's released code.

The authors put another there. This one is ours and has as many words.
"""

from __future__ import annotations

PARAGRAPH = (
    "In the spring the river below the mill rose higher than anyone in the valley could remember, "
    "and for nine days the ferry stayed fastened to its wooden post. A letter that should have "
    "travelled to the harbour lay on the counter of the small post office, underneath a jar of "
    "boiled sweets. On the tenth morning the water finally subsided. The ferryman swept the heavy "
    "mud from the landing, counted his ropes, and rang the bell twice, as the custom was. Seven "
    "passengers came down the path carrying baskets, a ladder and a crate of clocks. By afternoon "
    "the boat had crossed four times, the letter was on its way, and the miller had opened the "
    "sluice again. <eod>"
)
"""119 words and the mark for the end of a document, as theirs."""
NOTE = (
    "As in the released code, XLNet-like models are asked without a permutation mask, at a mask "
    "token, with every sentence after the same paragraph. The paragraph is ours, of as many words "
    "as the authors'; scores differ from those with theirs."
)
