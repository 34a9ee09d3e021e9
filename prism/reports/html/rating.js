"use strict";
(() => {
  const form = document.getElementById("sheet");
  const articles = [...form.querySelectorAll("article")];
  const names = JSON.parse(form.dataset.names);
  const progress = document.getElementById("progress");
  let isSaved = true;

  const chosen = (field) => field?.querySelector("input:checked")?.value ?? "";
  const rater = () => form.elements.rater.value.trim();
  const ids = (article) => ({ problem_id: article.dataset.problem, sample_id: article.dataset.sample, rater: rater() });

  // What was said without a score stays: the scores are shown, and the first answer can be changed no more.
  function show(article) {
    const blind = article.querySelector(".blind");
    if (!chosen(blind)) return;
    for (const input of blind.querySelectorAll("input")) input.disabled = true;
    article.querySelector(".scores").hidden = false;
  }

  function ratings() {
    return articles.flatMap((article) => [...article.querySelectorAll("[data-part]")]
      .filter((field) => chosen(field))
      .map((field) => ({ ...ids(article), part: field.dataset.part, rating: chosen(field) })));
  }

  function verdicts() {
    return articles.filter((article) => chosen(article.querySelector(".blind"))).map((article) => {
      const nearer = chosen(article.querySelector(".nearer"));
      const more = nearer ? { nearer: nearer === "0" ? "neither" : names[Number(nearer) - 1] } : {};
      return { ...ids(article), blind: chosen(article.querySelector(".blind")), ...more };
    });
  }

  function save(what, rows) {
    const link = document.createElement("a");
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/jsonl;charset=utf-8" }));
    link.download = `${what} ${rater() || "unnamed"}`.replace(/[^\p{L}\p{N}]+/gu, "-") + ".jsonl";
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    isSaved = true;
    tell();
  }

  function tell() {
    const open = articles.filter((article) => !chosen(article.querySelector(".blind"))).length;
    progress.textContent = `${articles.length - open} of ${articles.length} judged, ${open} open${isSaved ? "" : ", not saved"}`;
  }

  form.addEventListener("input", (event) => {
    isSaved = false;
    const article = event.target.closest("article");
    if (article) show(article);
    tell();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("ratings").addEventListener("click", () => save("ratings", ratings()));
  document.getElementById("verdicts").addEventListener("click", () => save("verdicts", verdicts()));
  window.addEventListener("beforeunload", (event) => { if (!isSaved) event.preventDefault(); });
  tell();
})();
