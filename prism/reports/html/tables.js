"use strict";
// Sorts a table by the column whose head is pressed, and hides rows that do not hold what is typed above it.
(() => {
  const MANY = 10; // rows from which on a table can be filtered
  const { filterLabel } = document.body.dataset;

  const textOf = (row, column) => row.cells[column]?.textContent.trim() ?? "";
  const numberOf = (text) => {
    const found = /^[-+−]?\d[\d \u2009]*(?:[.,]\d+)?/u.exec(text);
    return found ? Number(found[0].replaceAll(/[ \u2009]/gu, "").replace("−", "-").replace(",", ".")) : NaN;
  };

  // What is empty or a dash stays at the end, whichever way the rest goes.
  function compare(a, b, isNumber, sign) {
    const isEmpty = (text) => text === "" || text === "–";
    if (isEmpty(a) || isEmpty(b)) return isEmpty(a) - isEmpty(b);
    return sign * (isNumber ? numberOf(a) - numberOf(b) : a.localeCompare(b, undefined, { numeric: true }));
  }

  // A key that is that of the row above is not written again: rows that part company get it back.
  function fillKeys(table) {
    let above = [];
    for (const row of table.tBodies[0].rows) {
      const keys = [...row.cells].filter((cell) => cell.tagName === "TH");
      keys.forEach((cell, k) => { if (!cell.textContent.trim()) cell.textContent = above[k] ?? ""; });
      above = keys.map((cell) => cell.textContent);
      row.classList.remove("next");
    }
  }

  function sort(table, head, heads) {
    fillKeys(table);
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const column = heads.indexOf(head);
    const rows = [...table.tBodies[0].rows];
    const texts = new Map(rows.map((row) => [row, textOf(row, column)]));
    const told = [...texts.values()].filter((text) => text !== "" && text !== "–");
    const isNumber = told.every((text) => !Number.isNaN(numberOf(text)));
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    rows.sort((a, b) => compare(texts.get(a), texts.get(b), isNumber, sign));
    table.tBodies[0].append(...rows);
  }

  function addFilter(table) {
    const field = document.createElement("input");
    field.type = "search";
    field.className = "filter";
    field.placeholder = filterLabel;
    field.setAttribute("aria-label", `${filterLabel}: ${table.caption?.textContent ?? ""}`);
    field.addEventListener("input", () => {
      fillKeys(table);
      const wanted = field.value.trim().toLowerCase();
      for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
    (table.closest(".scroll") ?? table).before(field);
  }

  for (const table of document.querySelectorAll("table")) {
    const heads = [...(table.tHead?.rows[table.tHead.rows.length - 1]?.cells ?? [])];
    const n = table.tBodies[0]?.rows.length ?? 0;
    if (n < 2 || !heads.length) continue;
    for (const head of heads) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, heads));
      head.append(button);
    }
    if (n >= MANY) addFilter(table);
  }
})();
