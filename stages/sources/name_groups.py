"""Groups of people by their names: by culture in the generated world, by letters elsewhere.

Letters are no culture: a name in English letters alone may be from anywhere. Real data tell no more.
"""

from stages.sources.world.lexicon import CULTURES

GROUPS = {  # of the generated world's cultures
    "English": ("english",),
    "other Western European": ("german", "french", "spanish", "portuguese", "italian", "dutch", "nordic"),
    "Eastern European": ("polish", "czech", "hungarian", "romanian", "russian"),
    "elsewhere": ("turkish", "arabic", "indian", "chinese", "japanese", "african"),
}


def group_of(name: str, source: str) -> str:
    """Return the group of a person's name, empty if it is in none; source: the recipe's `data.source`."""
    if source != "synthetic":
        return "English letters alone" if name.isascii() else "other letters, too"
    culture = culture_of(name)
    return next((group for group, cultures in GROUPS.items() if culture in cultures), "")


def culture_of(name: str) -> str | None:
    """Return the culture whose listed names make up most of a name, the commonest among several; None without one."""
    best = None
    most = (0, 0.0)
    for key, culture in CULTURES.items():
        given = max((len(first) for first in culture.given if name.startswith(f"{first} ")), default=0)
        family = max((len(last) for last in culture.family if name.endswith(last)), default=0)
        if given and family and (given + family, culture.weight) > most:
            best, most = key, (given + family, culture.weight)
    return best
