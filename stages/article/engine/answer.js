// What a model says to a text, character by character.

const MASK = 1; // ⁇ opens and closes what is to be said

// Text → numbers. A character that the model does not know becomes its base letters, or is left out.
const encoded = (text, characters) =>
  Array.from(text)
    .flatMap((character) => (characters.includes(character) ? character : Array.from(character.normalize("NFKD"))))
    .map((character) => characters.indexOf(character))
    .filter((number) => number >= 0);

// Yields {character, probability, others} for each character that is said, the likeliest each time; others: the next
// likeliest, with their probabilities. Ends after ⁇, after `most` characters, or where the context is full.
function* said(model, characters, text, most = 32) {
  const cache = model.emptyCache();
  const prompt = encoded(text, characters).slice(-model.shape.context);
  let logits;
  for (const number of prompt) logits = model.read(number, cache);
  for (let length = 0; length < most; length++) {
    const probabilities = softmax(logits);
    const order = Array.from(probabilities.keys()).sort((a, b) => probabilities[b] - probabilities[a]);
    const [best, ...others] = order.slice(0, 4).map((number) => ({
      character: characters[number],
      probability: probabilities[number],
    }));
    yield { ...best, others };
    if (order[0] === MASK || cache[0].keys.length === model.shape.context) return;
    logits = model.read(order[0], cache);
  }
}

// The text that is said, without the ⁇ that closes it.
const answer = (...asked) => Array.from(said(...asked), (each) => each.character).join("").replace("⁇", "");
