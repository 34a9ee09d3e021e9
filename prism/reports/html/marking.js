"use strict";
(() => {
  const form = document.getElementById("sheet");
  const articles = [...form.querySelectorAll("article")];
  const columns = form.dataset.columns.split(",");
  const formula = new RegExp(form.dataset.formula, "u"); // what a spreadsheet would work out
  const store = `prism marking sheet ${form.dataset.sheet}`;
  const progress = document.getElementById("progress");
  let isSaved = true;

  const labelOf = (id) => form.elements[`label-${id}`].value;
  const commentOf = (id) => form.elements[`comment-${id}`].value;
  const marker = () => form.elements.marker.value.trim();

  // A browser may refuse to keep anything for a file: then only the saved CSV is left, and leaving the page is asked about.
  function keep() {
    const rows = articles.map(({ id }) => [id, labelOf(id), commentOf(id)]);
    try { localStorage.setItem(store, JSON.stringify({ marker: marker(), isSaved, rows })); } catch { /* not allowed */ }
  }

  function restore() {
    let kept = null;
    try { kept = JSON.parse(localStorage.getItem(store)); } catch { /* not allowed, or not ours */ }
    if (!kept || !Array.isArray(kept.rows)) return;
    form.elements.marker.value = kept.marker || "";
    isSaved = kept.isSaved !== false;
    for (const [id, label, comment] of kept.rows) {
      const radios = form.elements[`label-${id}`];
      if (!radios) continue;
      radios.value = label;
      form.elements[`comment-${id}`].value = comment;
    }
  }

  function tell() {
    const open = articles.filter(({ id }) => !labelOf(id)).length;
    const done = articles.length - open;
    progress.textContent = `${done} of ${articles.length} marked, ${open} open${isSaved ? "" : ", not saved"}`;
  }

  function csv() {
    const cell = (text) => `"${formula.test(text) ? "'" : ""}${text.replaceAll('"', '""')}"`;
    const rows = articles.map((article) => {
      const values = {
        sheet: form.dataset.sheet, id: article.id, problem_id: article.dataset.problem, check: article.dataset.check,
        marker: marker(), label: labelOf(article.id), comment: commentOf(article.id),
      };
      return columns.map((name) => cell(values[name])).join(",");
    });
    return `\ufeff${[columns.join(","), ...rows].join("\r\n")}\r\n`;
  }

  function save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
    link.download = `${form.dataset.sheet} ${marker() || "marked"}`.replace(/[^\p{L}\p{N}]+/gu, "-") + ".csv";
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    isSaved = true;
    keep();
    tell();
  }

  form.addEventListener("input", () => { isSaved = false; keep(); tell(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("save").addEventListener("click", save);
  window.addEventListener("beforeunload", (event) => { if (!isSaved) event.preventDefault(); });
  restore();
  tell();
})();
