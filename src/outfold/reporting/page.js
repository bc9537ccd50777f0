"use strict";
(() => {
  // -- the table: sort, filter, all or the first ones
  const board = document.getElementById("board");
  const few = Number(board.dataset.few);
  const rows = [...board.tBodies[0].rows];
  const filter = document.getElementById("filter");
  const more = document.getElementById("more");
  const count = document.getElementById("count");
  let all = rows.length <= few;

  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0, found = 0;
    for (const row of board.tBodies[0].rows) {
      const text = row.cells[1].textContent.toLowerCase() + " " + row.cells[row.cells.length - 1].textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word));
      found += fits;
      row.hidden = !fits || (!all && shown >= few);
      shown += !row.hidden;
    }
    count.textContent = shown.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " shown";
    more.hidden = all ? rows.length <= few : found <= few;
    more.textContent = all ? "Show the first " + few : "Show all " + found.toLocaleString("en");
  };

  const value = (row, i) => {
    const cell = row.cells[i];
    if (!("v" in cell.dataset)) return cell.textContent;
    return cell.dataset.v === "" ? null : Number(cell.dataset.v);
  };
  const compare = (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  };
  board.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const head = button.closest("th");
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of board.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = rows.map((row) => [value(row, head.cellIndex), row]);
    keyed.sort(([a], [b]) => (a === null || b === null || !down ? compare(a, b) : compare(b, a)));
    board.tBodies[0].append(...keyed.map(([, row]) => row));
    show();
  });
  filter.addEventListener("input", show);
  more.addEventListener("click", () => { all = !all; show(); });
  show();

  // -- tips: by pointer, or by arrow keys within a picture that has the focus
  const tip = document.getElementById("tip");
  let now = null;
  const point = (mark) => {
    if (now) now.classList.remove("now");
    now = mark;
    tip.hidden = !mark;
    if (!mark) return;
    mark.classList.add("now");
    tip.textContent = mark.dataset.tip;
    const at = mark.getBoundingClientRect(), box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(at.left + at.width / 2 - box.width / 2, 12), document.documentElement.clientWidth - box.width - 12);
    const above = at.top - box.height - 10;
    tip.style.left = left + "px";
    tip.style.top = (above > 4 ? above : at.bottom + 10) + "px";
  };
  document.addEventListener("pointerover", (event) => point(event.target.closest("[data-tip]")));
  document.addEventListener("scroll", () => { if (now && !now.closest("svg").matches(":focus")) point(null); }, { passive: true });
  for (const picture of document.querySelectorAll("svg")) {
    const marks = [...picture.querySelectorAll("[data-tip]")];
    picture.addEventListener("blur", () => point(null));
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") point(null);
      if (!step || !marks.length) return;
      event.preventDefault();
      const i = marks.indexOf(now);
      point(marks[i < 0 ? (step > 0 ? 0 : marks.length - 1) : (i + step + marks.length) % marks.length]);
    });
  }

  // -- what can be taken along
  const facts = document.getElementById("facts").textContent;
  document.getElementById("json").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([facts], { type: "application/json" }));
    link.download = "report.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () => {
      const text = document.getElementById(button.dataset.copy).textContent;
      const said = button.textContent;
      const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = said; }, 1500); };
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => select(button.dataset.copy));
      else select(button.dataset.copy);
    });
  }
  const select = (id) => getSelection().selectAllChildren(document.getElementById(id));
})();
