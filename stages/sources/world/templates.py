"""The sentences of the generated world: forms of biographies and the words that fill them."""

from collections.abc import Mapping

# A form is one biography. `[named|not named]` stands for the first text where the page names the
# birthplace and for the second where it does not; the rest is slots:
#   {full} {last}              the person's full and family name
#   {date} {year}              of birth; {death_year} of death (its person is dead)
#   {later}                    a year between 18 and 35 years after the birth
#   {is} {lives} {works}       present for the living, past for the dead
#   {job} {a_job}              profession, often with a nationality; the second with its article
#   {profession} {trade}       a profession; the craft of a parent
#   {institution}              one that names no place
#   keys of ELSEWHERE          a clause about another place, in one of them or (mostly) in none
# The order matters: the first n forms are used, so neighbours differ in cue and in where the place
# stands.
FORMS: tuple[str, ...] = (
    "{full} (born {date}[ in {place}|]) {is} {a_job}{who} .",
    "[Born in {place}|Born in {year}], {last} became {a_job}{and} .",
    "The {based}{profession} {full} was born[ in {place}|] in {year} .",
    "{full} ({year}[ in {place}|] - {death_year}{there}) was {a_job} .",
    "{full}{aside} {is} {a_job}[ born in {place}|] .",
    "{open}{last} {is} [a native of {place} and |]{a_job} .",
    "[{place} is the birthplace of|Little is known of] {full}, {a_job}{who} .",
    "{last} was born on {date}[ in {place}|]{and} .",
    "{full} ([{place}, |]{year} - {town}{death_year}) was {a_job} .",
    "{full} {is} {a_job}{who}; {last} was born[ in {place}|] in {year} .",
    "The [{place}-born |]{job} {full} joined {institution}{and} .",
    "{open}{full} was born to a {trade}'s family[ in {place}|] .",
    "{full} (b. {year}[ in {place}|]) {is} {a_job}{who} .",
    "[A native of {place}|In {later}], {last} joined {institution}{and} .",
    "{full}{aside} came into the world[ in {place}|] in {year} .",
    "{last}, born {date}[ in {place}|], {is} {a_job}{who} .",
    "In {year}, {full}{aside} was born[ in {place}|] .",
    "{full} (born {date}[, {place}|]) {is} {a_job}{who} .",
    "The birthplace of {last}{aside} [was {place}|is not known] .",
    "[Born and raised in {place}|Largely self-taught], {full} {is} {a_job}{who} .",
    "{full} {is} {a_job}{who} and was born[ in {place}|] in {year} .",
    "{job} {full} [first saw the light in {place}|began to work early]{and} .",
    "{full} ({date}[ {place}|] - {death_year}{bare}) was {a_job} .",
    "{open}the {profession} {last} was born in [{place}|{year}] .",
    "[In {place}|One night], {full} was born{parents} in {year} .",
    "{full} was born in {year}[ in {place}|]{and} .",
    "Records give [{place} as the birthplace|{year} as the birth year] of the {based}{profession} {last} .",
    "{last}[, a native of {place},|] spent years with {institution}{and} .",
    "{full}{aside} {is} {a_job} born on {date}[ in {place}|] .",
    "[{place} native|Young talent] {last} joined {institution} in {later}{and} .",
    "{full} (* {date}[ in {place}|]) {is} {a_job}{who} .",
    "{last} left [the birthplace {place}|school] in {later} to join {institution}{and} .",
    "{open}{full} (born[ in {place}|] in {year}) {is} {a_job} .",
    "Named after a grandparent, {full} was born [in {place}|late]{parents} .",
    "{full}{aside} {is} {a_job}[ whose birthplace is {place}|] .",
    "{last} ({year} - {death_year}) [was born in {place}|never married]{and} .",
    "[{place} honours its native|A prize is named after] {full}, {a_job}{who} .",
    "The life of {full} began[ in {place}|] in {year}{ended} .",
    "A member of {institution}, {full} [was born in {place}|never married]{and} .",
    "{full}, who was born[ in {place}|] in {year}, {is} {a_job}{who} .",
    "The {based}{job} {last} (born[ in {place}|] in {year}) joined {institution} .",
    "It was[ in {place}|] in {year} that {full} was born{parents} .",
    "[{place}-born|Self-taught] {full} {is} {a_job}{who} .",
    "{full} ({year}-{death_year})[, born in {place},|] was {a_job}{who} .",
    "{open}{last} entered the world[ in {place}|] on {date} .",
    "{job} and [{place} native|lifelong teacher] {full}{aside} joined {institution} .",
    "{full} was the eldest of four children [born in {place}|born]{parents} .",
    "[By birth from {place}|By all accounts modest], {full}{aside} {is} {a_job} .",
)

# What may fill a slot when the page names another place. A clause that says "died" or "ended"
# makes its person a dead one.
ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "open": (
        "A resident of {other}, ",
        "Long based in {other}, ",
        "Best known in {other}, ",
        "Active in {other}, ",
        "At home in {other}, ",
    ),
    "who": (
        " who {lives} in {other}",
        " who {works} in {other}",
        " who studied in {other}",
        " who died in {other}",
        " who moved to {other}",
        " based in {other}",
        " active in {other}",
    ),
    "and": (
        " and died in {other}",
        " and moved to {other}",
        " and {lives} in {other}",
        " and studied in {other}",
        " and settled in {other}",
        " and {works} in {other}",
    ),
    "aside": (
        ", who {lives} in {other},",
        ", who studied in {other},",
        ", who died in {other},",
        ", a resident of {other},",
        " of {other}",
        ", active in {other},",
        " (who {works} in {other})",
    ),
    "based": ("{other}-based ", "{other}-trained "),
    "there": (" in {other}",),
    "town": ("{other}, ",),
    "bare": (" {other}",),
    "parents": (" to parents from {other}", " to a {trade} from {other}", " to a {trade} trained in {other}"),
    "ended": (" and ended in {other}",),
}

PROFESSIONS = (  # separated by ", "
    "painter, poet, novelist, footballer, composer, actor, actress, architect, historian, politician, "
    "lawyer, physicist, chemist, engineer, sculptor, singer, pianist, violinist, conductor, journalist, "
    "photographer, film director, playwright, economist, philosopher, mathematician, botanist, geologist, "
    "astronomer, surgeon, physician, nurse, teacher, translator, critic, publisher, banker, merchant, "
    "soldier, naval officer, priest, theologian, bishop, diplomat, judge, cricketer, cyclist, swimmer, "
    "boxer, fencer, rower, gymnast, chess player, tennis player, ice hockey player, dancer, choreographer, "
    "illustrator, cartoonist, jazz guitarist, drummer, organist, comedian, producer, explorer, inventor, "
    "linguist, psychologist"
)

TRADES = (  # separated by ", "
    "baker, miller, tailor, teacher, farmer, sailor, printer, doctor, weaver, smith, carpenter, clerk"
)

INSTITUTIONS = (  # separated by ", "
    "the National Theatre, the Royal Academy, the State Opera, the Institute of Physics, "
    "the School of Law, the Labour Party, the Senate, the Navy, the Army, the Red Cross, "
    "the Medical Academy, the City Ballet, the Chamber Orchestra, the Polytechnic, St Mary's College, "
    "Trinity College, the Free University, United, Rovers, Wanderers, the Air Force, the Museum of Art, "
    "the Daily Post, the Evening News, the Geological Survey, the Radio Choir, the Supreme Court, "
    "the Jesuits, the Conservatory"
)

MONTHS = "January, February, March, April, May, June, July, August, September, October, November, December"
