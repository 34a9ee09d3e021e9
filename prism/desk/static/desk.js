"use strict";
// Keys, JSON forms and files for the desk. Everything that is decided is decided by the server.
(() => {
  let held = "", wanted = "", queue = [], busy = false;

  htmx.defineExtension("desk", {
    onEvent(name, event) {
      if (name === "htmx:configRequest" && event.detail.verb !== "get") event.detail.headers["Content-Type"] = "application/json";
      return true;
    },
    encodeParameters(request, parameters) {
      const found = {};
      parameters.forEach((value, key) => { found[key] = value; });
      return JSON.stringify(found);
    },
  });

  const items = () => [...document.querySelectorAll("[data-item]")];
  const current = () => document.activeElement && document.activeElement.closest("[data-item]");
  const show = (item) => { if (item) { item.focus({ preventScroll: true }); item.scrollIntoView({ block: "nearest" }); } };
  const step = (by, fits) => {
    const all = items(), from = all.indexOf(current());
    for (let k = from + by; k >= 0 && k < all.length; k += by) if (fits(all[k])) return show(all[k]);
    if (from < 0 && all.length) show(all.find(fits));
  };
  const within = (selector) => {
    const item = current();
    return (item && item.querySelector(selector)) || [...document.querySelectorAll(selector)].find((each) => !each.closest("[data-item]"));
  };
  const open = (place, field) => {
    if (!place) return;
    place.open = true;
    const into = field || place.querySelector("textarea, input:not([type=hidden])");
    if (into) { into.focus(); if (into.select) into.select(); }
  };

  const act = (key) => {
    if (key === "j" || key === "ArrowDown") return step(1, () => true);
    if (key === "k" || key === "ArrowUp") return step(-1, () => true);
    if (key === "w") return step(1, (item) => item.classList.contains("todo"));
    const digit = /^[1-9]$/.test(key) && document.querySelector(`[data-digit="${key}"]`);
    if (digit) return show(digit);
    const name = key === "m" ? "j" : key;
    const field = /^[a-z]$/.test(name) && within(`[data-field="${name}"]`);
    if (field) return open(field.closest("details") || {}, field);
    const safe = CSS.escape(key);
    const button = within(`[data-key="${safe}"]`);
    if (button) {
      button.click();
      if (key === "?") button.closest("details").scrollIntoView({ block: "nearest" });
      return undefined;
    }
    if (!current() && document.querySelector(`[data-item] [data-key="${safe}"], [data-item] [data-field="${safe}"]`)) show(items().find((item) => item.classList.contains("todo")));
    return undefined;
  };

  document.addEventListener("keydown", (event) => {
    const at = event.target;
    if (event.key === "Escape") {
      const item = at.closest("[data-item]"), form = at.closest("details.edit");
      if (form) form.open = false;
      if (item) show(item); else at.blur();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && at.form) { at.form.requestSubmit(); event.preventDefault(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || at.matches("input:not([type=checkbox]), textarea, select")) return;
    if (!/^(?:[a-z1-9?+]|Arrow(?:Up|Down|Left|Right))$/.test(event.key)) return;
    if (event.key.startsWith("Arrow") && !document.querySelector("[data-item]")) return;
    event.preventDefault();
    if (busy) { if (queue.length < 20) queue.push(event.key); } else act(event.key);
  });

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener) open(document.getElementById(opener.dataset.open));
    const filler = event.target.closest("[data-fill]");
    if (filler) { const into = document.getElementById("score"); into.value = filler.dataset.fill; into.focus(); }
    if (event.target.closest("[data-reload]")) { event.preventDefault(); window.location.reload(); }
  });

  document.addEventListener("change", (event) => {
    const from = event.target;
    if (!from.matches("input[type=file][data-into]")) return;
    const into = from.closest("form").elements[from.dataset.into];
    Promise.all([...from.files].map((file) => file.text())).then((texts) => {
      into.value = [into.value, ...texts].map((text) => text.trim()).filter(Boolean).join("\n-----\n");
      into.dispatchEvent(new Event("input", { bubbles: true }));
    });
  });

  const isWriting = (event) => event.detail.requestConfig && event.detail.requestConfig.verb !== "get";
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!isWriting(event)) return;
    busy = true;
    document.body.classList.add("busy");
    document.getElementById("told").textContent = "";
    const item = current() || event.target.closest("[data-item]");
    held = item ? item.id : "";
    if (item && event.target.querySelector("[name=op][value=add]")) held = `n${Number(item.id.slice(1)) + 1}`;
    wanted = item && event.target.matches("[data-key=a], [data-key=y], [data-key=n]") ? "next" : "";
  });
  const done = () => {
    busy = false;
    document.body.classList.remove("busy");
    const key = queue.shift();
    if (key) act(key);
  };
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target && event.detail.target.id === "check") return;
    const item = held && document.getElementById(held);
    if (item) show(item); else if (held) show(items().at(-1));
    if (item && wanted && !item.classList.contains("todo")) step(1, (each) => each.classList.contains("todo"));
    held = wanted = "";
    done();
  });
  document.addEventListener("htmx:responseError", done);
  document.addEventListener("htmx:sendError", (event) => {
    document.getElementById("told").textContent = document.body.dataset.gone || "The desk does not answer.";
    done(event);
  });
})();
