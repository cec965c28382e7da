// Reloads a page that waits for a result, and replaces its content if it has changed; typed values
// are kept. Without this script the browser reloads the page.
"use strict";
(() => {
  const main = document.querySelector("main");
  const said = document.createElement("p"); // live region for screen readers
  said.className = "hidden";
  said.setAttribute("role", "status");
  document.body.append(said);
  const seconds = Number(document.currentScript.dataset.seconds);
  let shown = main.innerHTML;

  // A field is identified by its form's action, that form's field `form`, and its own name.
  const name = (field) => [field.form?.getAttribute("action"), field.form?.elements.form?.value, field.name].join(" ");
  const fields = () => [...main.querySelectorAll("input:not([type=hidden]), select, textarea")];
  const value = (field) => (field.type === "checkbox" ? field.checked : field.value);
  const first = (field) => field.type === "checkbox" ? field.defaultChecked
    : field.options ? [...field.options].find((one) => one.defaultSelected)?.value ?? field.options[0]?.value : field.defaultValue;

  const take = (fresh) => {
    const typed = new Map(fields().filter((one) => value(one) !== first(one)).map((one) => [name(one), one]));
    const focus = document.activeElement?.name && name(document.activeElement);
    main.innerHTML = fresh;
    for (const field of fields()) {
      const old = typed.get(name(field));
      if (old && field.type === "checkbox") field.checked = old.checked;
      else if (old && field.type !== "file") field.value = old.value;
      if (focus && name(field) === focus) field.focus();
    }
    const news = main.querySelector("[role=alert], [role=status]");
    if (news) said.textContent = news.textContent;
  };

  const ask = async () => {
    let waits = true;
    try {
      const reply = await fetch(location.href, { credentials: "same-origin", headers: { Accept: "text/html" } });
      if (reply.redirected) { location.replace(reply.url); return; }
      if (reply.ok) {
        const page = new DOMParser().parseFromString(await reply.text(), "text/html");
        const fresh = page.querySelector("main").innerHTML;
        if (fresh !== shown) { shown = fresh; take(fresh); }
        waits = page.querySelector("script[data-seconds]") !== null;
      }
    } catch { /* the box restarts, or the network is away */ }
    if (waits) setTimeout(ask, 1000 * seconds);
  };
  setTimeout(ask, 1000 * seconds);
})();
