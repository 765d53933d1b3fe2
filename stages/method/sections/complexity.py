"""What each variant needs by its published form, in words. An entry is optional.

Letters: ℓ length in characters, d width, h heads, m bottleneck or latents, w window, c chunk. The words stand here and
not beside the mixers, so that a word changed in one trains nothing anew.
"""

from typing import NamedTuple


class Complexity(NamedTuple):
    """Leading terms of a block, without O(); the perceiver's are those of all its blocks together."""

    forward: str  # operations of a forward pass
    character: str  # operations of reading one more character
    state: str  # memory of what was read before it


ATTENTION = Complexity("ℓ²d + ℓd²", "ℓd + d²", "ℓd")
CHUNKED = Complexity("ℓcd + ℓd²/h + ℓd²", "d²/h + d²", "d²/h")
RECURRENT = Complexity("ℓd²", "d²", "d")

COMPLEXITY = {
    "vanilla": ATTENTION,
    "rope": ATTENTION,
    "nope": ATTENTION,
    "mqa": Complexity(ATTENTION.forward, ATTENTION.character, "ℓd/h"),
    "window": Complexity("ℓwd + ℓd²", "wd + d²", "wd"),
    "synthesizer": ATTENTION,
    "random_synthesizer": ATTENTION,
    "perceiver": Complexity("ℓmd + m²d + ℓd² + md²", "md + d²", "md"),
    "perceiver_ar": Complexity("ℓ²d + ℓmd + ℓd²", "ℓd + md + d²", "ℓd + md"),
    "linear": CHUNKED,
    "gated_deltanet": Complexity(CHUNKED.forward, CHUNKED.character, "d²/h + d"),
    "min_gru": RECURRENT,
    "rnn": RECURRENT,
    "wrnn": RECURRENT,
}
