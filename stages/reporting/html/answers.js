"use strict";
(() => {
  const PAGE = 50; // rows shown at once
  const HIDDEN = -1; // a right answer that is not told
  const part = (name) => document.getElementById(`answers--${name}`);
  const collator = new Intl.Collator("en", { numeric: true });
  // diacritics and case do not matter to a search
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  const data = JSON.parse(part("data").textContent);
  const shown = (place) => (place === HIDDEN ? "not shown" : data.places[place] || "nothing");
  const answers = data.runs.flatMap(({ variant, seed, init, predicted, correct, probability }) =>
    data.rows.map((row, at) => ({
      variant, seed, init, row,
      question: data.questions[at],
      predicted: shown(predicted[at]),
      gold: data.places[data.golds[at]],
      correct: correct[at] === "1" ? "✓ right" : "✗ wrong",
      probability: probability[at].toFixed(4),
      searched: plain([data.questions[at], data.places[predicted[at]], data.places[data.golds[at]]].join("\n")),
    })));
  const columns = ["variant", "seed", "init", "row", "question", "predicted", "gold", "correct", "probability"]
    .filter((name) => data.shown || !["question", "gold"].includes(name));
  const numbers = ["seed", "row", "probability"];
  const filters = ["variant", "correct", "init", "seed"];
  const sorting = { column: null, falling: false };
  let found = [];
  let page = 0;

  const find = () => {
    const query = plain(part("query").value.trim());
    const chosen = filters.map((name) => [name, part(name).value]).filter(([, value]) => value !== "");
    found = answers.filter((answer) =>
      chosen.every(([name, value]) => String(answer[name]) === value) &&
      (answer.searched.includes(query) || String(answer.row) === query));
    const { column, falling } = sorting;
    if (column) found.sort((a, b) => (falling ? -1 : 1) * collator.compare(a[column], b[column]));
    page = 0;
    show();
  };

  const cellOf = (answer, name) => {
    const cell = document.createElement("td");
    cell.setAttribute("role", "cell");
    cell.dataset.label = name;
    if (numbers.includes(name)) cell.className = "number";
    if (["question", "predicted", "gold"].includes(name)) cell.className = "text";
    if (name === "correct") cell.className = answer.correct.slice(2);
    // text from data: whatever its letters' direction, it stays in its own cell and cannot turn that direction round
    const box = document.createElement("bdi");
    box.textContent = String(answer[name]).replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
    cell.append(box);
    return cell;
  };

  const show = () => {
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    part("rows").replaceChildren(...found.slice(page * PAGE, (page + 1) * PAGE).map((answer) => {
      const line = document.createElement("tr");
      line.setAttribute("role", "row");
      line.append(...columns.map((name) => cellOf(answer, name)));
      return line;
    }));
    const right = found.filter((answer) => answer.correct === "✓ right").length;
    const share = found.length ? `, ${right.toLocaleString("en")} of them right (${(100 * right / found.length).toFixed(1)} %)` : "";
    part("count").textContent = `${found.length.toLocaleString("en")} of ${answers.length.toLocaleString("en")} answers${share}`;
    part("page").textContent = `page ${(page + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
    part("previous").setAttribute("aria-disabled", String(page === 0));
    part("next").setAttribute("aria-disabled", String(page + 1 >= pages));
    columns.forEach((name, index) => {
      const way = sorting.column !== name ? "none" : sorting.falling ? "descending" : "ascending";
      part("head").children[index].setAttribute("aria-sort", way);
    });
  };

  const turn = (by) => {
    if (page + by < 0 || (page + by) * PAGE >= found.length) return;
    page += by;
    show();
  };
  const sortBy = (name) => {
    sorting.falling = sorting.column === name ? !sorting.falling : name === "probability"; // the surest come first
    sorting.column = name;
    find();
  };

  for (const name of filters) {
    const values = [...new Set(answers.map((answer) => answer[name]))];
    if (name === "seed") values.sort((a, b) => a - b);
    for (const value of values) part(name).append(new Option(name === "correct" ? value.slice(2) : value, value));
    part(name).addEventListener("change", find);
  }
  for (const name of columns) {
    const head = document.createElement("th");
    const button = document.createElement("button");
    head.scope = "col";
    head.setAttribute("role", "columnheader");
    if (numbers.includes(name)) head.className = "number";
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", () => sortBy(name));
    head.append(button);
    part("head").append(head);
  }
  let waiting;
  part("query").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, 120); // once the typing rests
  });
  part("form").addEventListener("submit", (event) => { event.preventDefault(); find(); });
  part("form").addEventListener("reset", () => setTimeout(() => { sorting.column = null; find(); }));
  part("previous").addEventListener("click", () => turn(-1));
  part("next").addEventListener("click", () => turn(1));
  find();
  part("explorer").hidden = false;
})();
