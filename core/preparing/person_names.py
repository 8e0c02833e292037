"""Names of persons that are frequent in English and French: a few of them in a column tell that it holds names.

Left out are those that are places, months, colours or trades as well.
"""

from __future__ import annotations

from collections.abc import Sequence

_FIRST = """
    alain alexandre alice amelie andre andrew anna anne anthony antoine ashley barbara benoit brenda brian carol
    caroline catherine chantal christine claire claude daniel danielle david deborah denis dominique donald donna
    dorothy edward elizabeth emily emma eric francois frederic gabriel genevieve george gerard gilles guillaume guy
    helen helene isabelle jacques james jean jeanne jennifer jessica joan john joseph joshua joyce julia julie karen
    kenneth kevin kimberly laura laurent linda lisa louise lucie luc marc margaret maria marie marion martine mary
    matthew melissa michael michel michelle monique nancy nathalie nicolas nicole noah olivier olivia pamela
    patricia patrick paul philippe pierre rachel raymond rebecca rene richard robert roger ronald ruth samantha
    samuel sandra sarah sharon sophie stephanie stephen steven susan suzanne sylvie theresa thierry thomas timothy
    valerie veronique william yves
"""
_LAST = """
    adams allen anderson beaulieu belanger bergeron bernard bertrand boucher bouchard campbell caron chan cloutier
    collins cote davies davis dubois dufour durand evans fontaine fortin fournier gagne gagnon garcia gauthier
    girard gonzalez goulet hall harris henry hernandez hughes jackson johnson jones kaur kelly khan kim lalonde
    lambert landry lapointe lavoie leblanc leclerc lefebvre levesque lewis lopez macdonald maillet martin martinez
    mcdonald mercier michaud miller mitchell moore moreau morgan morin morris murphy murray nadeau nguyen ouellet
    parker patel peterson phillips poirier poulin reid richardson roberts robertson robinson rodriguez ross roussel
    roy ryan sanchez savard scott simard singh smith stewart taylor thompson tremblay tran turner walker wang watson
    williams wilson wong wright
"""
_FREQUENT = frozenset((_FIRST + _LAST).split())
MOST_WORDS = 3  # of a name
LEAST_FREQUENT, SHARE_FREQUENT = 3, 0.2  # frequent names among the different values of a column of names


def are_names(texts: Sequence[str]) -> bool:
    """Whether different values look like names of persons: of letters alone, and some of them frequent names; `texts`
    without accents, in lower case."""
    words = [text.replace(",", " ").split() for text in texts]
    named = [parts for parts in words if 0 < len(parts) <= MOST_WORDS and all(_is_word(part) for part in parts)]
    frequent = sum(not _FREQUENT.isdisjoint(parts) for parts in named)
    return len(named) > 0.9 * len(texts) and frequent >= max(LEAST_FREQUENT, SHARE_FREQUENT * len(texts))


def _is_word(text: str) -> bool:
    return text.replace("-", "").replace("'", "").replace("’", "").replace(".", "").isalpha()
