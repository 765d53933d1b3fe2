"""The places of the generated world: real cities and countries with made-up, lifelike frequencies."""

from collections.abc import Mapping

LONDON = "London"
LONDON_SHARE = 0.05  # of the birthplaces; every other place is rarer

# A tier is the frequency of each of its places, relative to the other tiers, and its places by the
# naming culture (a key of names.CULTURES) that is at home there. No place is part of another
# one's name ("York" in "New York"), so that finding a place's letters in a page means the page names it.
TIERS: tuple[tuple[float, Mapping[str, str]], ...] = (
    (3.2, {"french": "Paris"}),
    (
        1.7,
        {"english": "Chicago, Dublin, New York, Sydney, Toronto", "german": "Berlin, Vienna"},
    ),
    (
        1.0,
        {
            "english": "Boston, Edinburgh, England, Glasgow, Melbourne, Philadelphia",
            "french": "Montreal",
            "german": "Hamburg",
            "italian": "Milan, Rome",
            "dutch": "Amsterdam",
            "nordic": "Copenhagen, Oslo, Stockholm",
            "polish": "Warsaw",
            "czech": "Prague",
            "hungarian": "Budapest",
        },
    ),
    (
        0.6,
        {
            "english": "Auckland, Baltimore, Belfast, Birmingham, Bristol, Brooklyn, Cardiff, Detroit, "
            "Leeds, Liverpool, Los Angeles, Manchester, San Francisco",
            "french": "Brussels, France, Lyon, Marseille",
            "german": "Cologne, Dresden, Germany, Leipzig, Munich",
            "italian": "Naples, Turin, Venice",
            "spanish": "Barcelona, Buenos Aires, Madrid",
            "portuguese": "Lisbon",
            "dutch": "Antwerp, Rotterdam",
            "nordic": "Helsinki",
            "polish": "Kraków",
            "romanian": "Bucharest",
            "russian": "Moscow",
            "turkish": "Istanbul",
            "arabic": "Cairo",
            "indian": "Mumbai",
            "chinese": "Shanghai",
            "japanese": "Tokyo",
        },
    ),
    (
        0.3,
        {
            "english": "Aberdeen, Adelaide, Atlanta, Brisbane, Buffalo, Cape Town, Cincinnati, Cleveland, "
            "Dallas, Dundee, Houston, Ireland, Johannesburg, Memphis, Minneapolis, New Orleans, "
            "Newcastle, Nottingham, Ottawa, Perth, Pittsburgh, Portsmouth, Scotland, Seattle, Sheffield, "
            "Vancouver, Wellington",
            "french": "Bordeaux, Geneva, Strasbourg, Toulouse",
            "german": "Basel, Bremen, Frankfurt, Hanover, Nuremberg, Stuttgart, Zürich",
            "italian": "Bologna, Genoa, Italy, Palermo, Trieste",
            "spanish": "Bogotá, Havana, Lima, Mexico City, Seville, Valencia",
            "portuguese": "Porto, Rio de Janeiro, São Paulo",
            "dutch": "The Hague, Utrecht",
            "nordic": "Bergen, Gothenburg, Reykjavik",
            "polish": "Gdańsk, Lviv",
            "czech": "Bratislava, Brno",
            "hungarian": "Debrecen",
            "romanian": "Chisinau",
            "russian": "Kyiv, Odessa, Riga, Saint Petersburg",
            "turkish": "Ankara",
            "arabic": "Beirut, Damascus, Tehran",
            "indian": "Delhi, India, Karachi, Kolkata, Lahore",
            "chinese": "Beijing, Hong Kong",
            "japanese": "Osaka",
            "african": "Accra, Lagos, Nairobi",
        },
    ),
    (
        0.1,
        {
            "english": "Brighton, Calgary, Cambridge, Cork, Coventry, Denver, Exeter, Halifax, Kentucky, "
            "Leicester, Milwaukee, Nashville, Norwich, Ohio, Oxford, Plymouth, Portland, Richmond, "
            "Southampton, Swansea, Texas, Toledo, Wales, Winnipeg, Wolverhampton",
            "french": "Algiers, Lausanne, Nantes, Quebec, Rouen, Tunis",
            "german": "Austria, Graz, Heidelberg, Innsbruck, Kassel, Mainz, Salzburg, Switzerland",
            "italian": "Bari, Padua, Parma, Siena, Verona",
            "spanish": "Caracas, Chile, Granada, Montevideo, Santiago, Spain, Zaragoza",
            "portuguese": "Brazil, Coimbra, Recife",
            "dutch": "Ghent, Groningen, Leiden",
            "nordic": "Aarhus, Denmark, Malmö, Sweden, Trondheim, Turku, Uppsala",
            "polish": "Poland, Vilnius, Wrocław",
            "czech": "Belgrade, Ljubljana, Zagreb",
            "hungarian": "Szeged",
            "romanian": "Sofia, Timișoara",
            "russian": "Baku, Kazan, Minsk, Tallinn, Tbilisi, Yerevan",
            "turkish": "Izmir, Thessaloniki",
            "arabic": "Alexandria, Baghdad, Casablanca, Jerusalem, Lebanon, Morocco",
            "indian": "Chennai, Colombo, Hyderabad, Pune",
            "chinese": "Guangzhou, Manila, Singapore, Taipei",
            "japanese": "Hiroshima, Kyoto",
            "african": "Dakar, Ghana, Kingston, Nigeria",
        },
    ),
)


def weights() -> dict[str, float]:
    """Every place but London with its relative frequency, in the order of the tiers."""
    return {
        place: weight for weight, by_culture in TIERS for places in by_culture.values() for place in places.split(", ")
    }


def homes() -> dict[str, str]:
    """Every place with the naming culture that is at home there."""
    found = {LONDON: "english"}
    for _, by_culture in TIERS:
        for culture, places in by_culture.items():
            found.update(dict.fromkeys(places.split(", "), culture))
    return found
