"use strict";
(() => {
  const PAGE = 50; // rows shown at once
  const HIDDEN = -1; // a right answer that is not told
  const part = (name) => document.getElementById(`answers--${name}`);

  // ---- the answers, and what is shown of them
  const data = JSON.parse(part("data").textContent);
  const count = data.rows.length;
  const collator = new Intl.Collator("en");
  // diacritics and case do not matter to a search
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const ranks = (texts) => {
    const order = texts.map((_, index) => index).sort((a, b) => collator.compare(texts[a], texts[b]));
    const places = new Array(texts.length);
    order.forEach((index, rank) => { places[index] = rank; });
    return places;
  };
  const questionRanks = ranks(data.questions);
  const placeRanks = ranks(data.places);
  const variants = [...new Set(data.runs.map((run) => run.variant))];
  const variantRanks = new Map(ranks(variants).map((rank, index) => [variants[index], rank]));
  const plainQuestions = data.questions.map(plain);
  const plainPlaces = data.places.map(plain);

  const place = (cell, index) => {
    const missing = index === HIDDEN ? "not shown" : data.places[index] === "" ? "nothing" : null;
    if (missing) cell.className += " absent";
    isolated(cell, missing ?? data.places[index]);
  };
  // text from data: whatever its letters' direction, it stays in its own cell and cannot turn that direction round
  const isolated = (cell, text) => {
    const box = document.createElement("bdi");
    box.textContent = text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
    cell.append(box);
  };
  const outcome = (cell, run, row) => {
    const right = run.correct[row] === "1";
    cell.className += right ? " right" : " wrong";
    cell.textContent = right ? "✓ right" : "✗ wrong";
  };
  const columns = [
    { name: "variant", key: (run) => variantRanks.get(run.variant), fill: (cell, run) => isolated(cell, run.variant) },
    { name: "seed", number: true, key: (run) => run.seed, fill: (cell, run) => { cell.textContent = run.seed; } },
    { name: "init", key: (run) => (run.init === "scratch" ? 0 : 1), fill: (cell, run) => { cell.textContent = run.init; } },
    { name: "row", number: true, key: (_, row) => data.rows[row], fill: (cell, _, row) => { cell.textContent = data.rows[row]; } },
    { name: "question", text: true, shown: data.shown, key: (_, row) => questionRanks[row], fill: (cell, _, row) => isolated(cell, data.questions[row]) },
    { name: "predicted", text: true, key: (run, row) => placeRanks[run.predicted[row]] ?? -1, fill: (cell, run, row) => place(cell, run.predicted[row]) },
    { name: "gold", text: true, shown: data.shown, key: (_, row) => placeRanks[data.golds[row]], fill: (cell, _, row) => place(cell, data.golds[row]) },
    { name: "correct", key: (run, row) => Number(run.correct[row]), fill: outcome },
    { name: "probability", number: true, falling: true, key: (run, row) => run.probability[row], fill: (cell, run, row) => { cell.textContent = run.probability[row].toFixed(4); } },
  ].filter((column) => column.shown ?? true);

  const filters = ["variant", "correct", "init", "seed"];
  const sorting = { column: null, falling: false };
  let found = []; // answers as run * count + row
  let page = 0;

  const find = () => {
    const query = plain(part("query").value.trim());
    const [variant, correct, init, seed] = filters.map((name) => part(name).value);
    const inPlace = plainPlaces.map((text) => text.includes(query));
    const inRow = data.rows.map((row, index) =>
      String(row) === query || (data.shown && (plainQuestions[index].includes(query) || inPlace[data.golds[index]])));
    found = [];
    data.runs.forEach((run, number) => {
      if (variant !== "" && run.variant !== variants[variant]) return;
      if (init !== "" && run.init !== init) return;
      if (seed !== "" && String(run.seed) !== seed) return;
      for (let row = 0; row < count; row += 1) {
        if (correct !== "" && run.correct[row] !== correct) continue;
        if (query === "" || inRow[row] || inPlace[run.predicted[row]]) found.push(number * count + row);
      }
    });
    if (sorting.column) {
      const { column, falling } = sorting;
      const keys = new Float64Array(data.runs.length * count);
      for (const each of found) keys[each] = column.key(data.runs[Math.floor(each / count)], each % count);
      const sign = falling ? -1 : 1;
      found.sort((a, b) => sign * (keys[a] - keys[b]) || a - b);
    }
    page = 0;
    show();
  };

  const show = () => {
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    const rows = found.slice(page * PAGE, (page + 1) * PAGE).map((each) => {
      const [run, row] = [data.runs[Math.floor(each / count)], each % count];
      const line = document.createElement("tr");
      line.setAttribute("role", "row");
      for (const column of columns) {
        const cell = document.createElement("td");
        cell.setAttribute("role", "cell");
        cell.dataset.label = column.name;
        cell.className = column.number ? "number" : column.text ? "text" : "";
        column.fill(cell, run, row);
        line.append(cell);
      }
      return line;
    });
    part("rows").replaceChildren(...rows);
    const right = found.reduce((sum, each) => sum + (data.runs[Math.floor(each / count)].correct[each % count] === "1"), 0);
    const total = (data.runs.length * count).toLocaleString("en");
    const share = found.length ? `, ${right.toLocaleString("en")} of them right (${(100 * right / found.length).toFixed(1)} %)` : "";
    part("count").textContent = `${found.length.toLocaleString("en")} of ${total} answers${share}`;
    part("page").textContent = `page ${(page + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
    part("previous").setAttribute("aria-disabled", String(page === 0));
    part("next").setAttribute("aria-disabled", String(page + 1 >= pages));
  };

  const turn = (by) => {
    const to = page + by;
    if (to < 0 || to * PAGE >= found.length) return;
    page = to;
    show();
  };

  const sortBy = (column) => {
    sorting.falling = sorting.column === column ? !sorting.falling : Boolean(column.falling);
    sorting.column = column;
    mark();
    find();
  };
  const mark = () => {
    columns.forEach((column, index) => {
      const way = sorting.column !== column ? "none" : sorting.falling ? "descending" : "ascending";
      part("head").children[index].setAttribute("aria-sort", way);
    });
  };

  const options = (name, pairs) => {
    for (const [value, text] of pairs) {
      const option = document.createElement("option");
      [option.value, option.textContent, option.dir] = [value, text, "auto"];
      part(name).append(option);
    }
  };
  const distinct = (name) => [...new Set(data.runs.map((run) => run[name]))];

  if (count) {
    options("variant", variants.map((name, index) => [index, name]));
    options("init", distinct("init").map((name) => [name, name]));
    options("seed", distinct("seed").sort((a, b) => a - b).map((seed) => [seed, seed]));
    for (const column of columns) {
      const head = document.createElement("th");
      const button = document.createElement("button");
      head.scope = "col";
      head.setAttribute("role", "columnheader");
      if (column.number) head.className = "number";
      button.type = "button";
      button.textContent = column.name;
      button.addEventListener("click", () => sortBy(column));
      head.append(button);
      part("head").append(head);
    }
    let waiting;
    part("query").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(find, 120); // once the typing rests
    });
    filters.forEach((name) => part(name).addEventListener("change", find));
    part("form").addEventListener("submit", (event) => { event.preventDefault(); find(); });
    part("form").addEventListener("reset", () => setTimeout(() => { sorting.column = null; mark(); find(); }));
    part("previous").addEventListener("click", () => turn(-1));
    part("next").addEventListener("click", () => turn(1));
    mark();
    find();
    part("explorer").hidden = false;
  }
})();
