// The page's own code: state in the hash, pictures, the table, prices, search. No fetch and no modules: it runs from a file.
"use strict";
(() => {
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const json = (id) => JSON.parse(document.getElementById(id)?.textContent || "null");
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  };
  const shown = (value) => {
    if (value === null || value === undefined || value === "") return "–";
    return typeof value === "number" ? value.toLocaleString("en", { maximumSignificantDigits: Math.abs(value) >= 1000 ? 9 : 3 }) : String(value);
  };

  // ---- state: every control is in the hash, so that a link shows what its sender saw ----
  const state = new URLSearchParams(location.hash.slice(1));
  const listeners = {};
  const on = (key, listener) => (listeners[key] ??= []).push(listener);
  const set = (key, value, quiet = false) => {
    if (value === "" || value === null || value === undefined) state.delete(key);
    else state.set(key, value);
    history.replaceState(null, "", `${location.pathname}${location.search}${state.size ? `#${state}` : ""}`);
    if (!quiet) (listeners[key] || []).forEach((listener) => listener());
  };
  const wordsOf = (key) => (state.get(key) || "").toLowerCase().split(/\s+/).filter(Boolean);
  const valueOf = (control) => (control.type === "checkbox" ? (control.checked ? "1" : "0") : control.value);
  const control = (element, standard = element.type === "checkbox" ? String(+element.defaultChecked) : "", key = element.dataset.state) => {
    const show = () => (element.type === "checkbox" ? (element.checked = (state.get(key) ?? standard) === "1") : (element.value = state.get(key) ?? standard));
    show();
    element.addEventListener("input", () => set(key, valueOf(element) === standard ? "" : valueOf(element)));
    on(key, show);
  };
  const go = (id) => {
    const target = id && document.getElementById(id);
    target?.closest("details")?.setAttribute("open", "");
    target?.scrollIntoView();
    target?.focus({ preventScroll: true });
  };
  const theme = () => ((document.documentElement.dataset.theme = state.get("theme") ?? ""), drawn.forEach((figure) => draw(figure)));
  const keepTheme = (event) => {
    const link = event.target.closest("a[href]");
    const href = link?.getAttribute("href") ?? "";
    if (href.startsWith("#") && !href.includes("=")) {
      event.preventDefault();
      set("at", href.slice(1));
      go(href.slice(1));
    } else if (state.get("theme") && /^[^:#]+\.html(#[^=]*)?$/.test(href)) {
      event.preventDefault();
      const [path, at] = href.split("#");
      location.href = `${path}#${new URLSearchParams({ theme: state.get("theme"), ...(at && { at }) })}`;
    }
  };

  // ---- data: columns, with every text once ----
  const data = json("data") || { texts: [], sets: {}, specs: {}, own: {}, runs: {} };
  const rowsOf = (name) => {
    const columns = data.sets[name];
    if (!columns) return [];
    const value = (field, at) => (columns.t[field] ? data.texts[columns.t[field][at]] : columns.n[field][at]);
    columns.rows ??= Array.from({ length: columns.length }, (_, at) => Object.fromEntries(columns.names.map((field) => [field, value(field, at)])));
    return columns.rows;
  };
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const coloured = (value) => (typeof value === "string" && /^--[a-z]/.test(value) ? css(value) : value);
  const walk = (node, change) => {
    if (Array.isArray(node)) return node.map((each) => walk(each, change));
    if (!node || typeof node !== "object") return coloured(node);
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(key, walk(value, change))]));
  };

  // ---- pictures ----
  const drawn = new Map();
  const chosen = (figure) => {
    let rows = data.own[figure.dataset.own]?.data.values ?? computed[figure.dataset.set]?.() ?? rowsOf(figure.dataset.set);
    if (figure.dataset.only) rows = rows.filter((row) => row[figure.dataset.by] === figure.dataset.only);
    for (const select of $$("select[data-column]", figure)) {
      const column = select.dataset.column;
      const values = [...new Set(rows.map((row) => row[column]))];
      const wanted = values.includes(state.get(select.dataset.state)) ? state.get(select.dataset.state) : values[0];
      select.parentElement.hidden = values.length < 2;
      select.replaceChildren(...values.map((value) => make("option", { value, selected: value === wanted }, data.runs[value] ?? value)));
      rows = rows.filter((row) => row[column] === wanted);
    }
    return rows;
  };
  const dodge = (rows, field, log, height) => {
    // Names at the ends of lines must not cover each other: they are moved apart, and stay in their order.
    const scale = log ? Math.log : Number;
    const all = rows.flatMap((row) => [row[field], row.low, row.high]).filter((value) => value > 0).map(scale);
    const least = ((Math.max(...all) - (log ? Math.min(...all) : 0)) * 17) / height;
    let last = -Infinity;
    for (const row of rows.filter((each) => each.label).sort((a, b) => a[field] - b[field])) {
      row.label_y = ((last = Math.max(scale(row[field]), last + least)), log ? Math.exp(last) : last);
    }
  };
  const fit = (rows, width) => {
    // The name of a role stands in its part of a bar where that is wide enough.
    const value = (row) => row.us ?? row.cost;
    const most = Math.max(...rows.map(({ variant }) => rows.reduce((sum, row) => sum + (row.variant === variant ? value(row) : 0), 0)));
    for (const row of rows) row.wide = (value(row) / most) * (width - (rows.some(({ text }) => text) ? 300 : 170)) > row.role.length * 6.5;
  };
  const conditions = (figure, rows) =>
    [...new Set([figure.dataset.run, ...rows.map(({ run }) => run)].map((run) => data.conditions[run]))].filter(Boolean).slice(0, 4).join(" ");
  const specOf = (figure, width, rows) => {
    const name = figure.dataset.figure;
    const scales = Object.fromEntries($$("input[data-scale]", figure).map(({ dataset, checked }) => [dataset.scale, checked ? "log" : "linear"]));
    const own = rows.map((row) => ({ ...row, hue: coloured(row.hue) }));
    if (rows[0].role) fit(own, width);
    if (rows.some((row) => row.label)) dodge(own, name === "sweep" ? "mean" : "ms", scales.y !== "linear", 340);
    const names = { "value of the setting": rows[0]?.axis, figure: rows[0]?.figure };
    const wanted = walk(data.own[figure.dataset.own] ?? data.specs[name], (key, value) => {
      if (key === "title" && names[value]) return names[value];
      const axis = key === "x" || key === "y" ? scales[key] : undefined;
      if (axis && value.scale?.type) return { ...value, scale: { ...value.scale, type: axis } };
      return key === "labelLimit" && width < 560 ? Math.round(width * 0.42) : value;
    });
    // A layer of what no row has would have no extent.
    const needs = (layer) => /^isValid\(datum\.(\w+)\)$/.exec(layer.transform?.[0].filter)?.[1];
    const inner = wanted.spec ?? wanted;
    if (inner.layer) inner.layer = inner.layer.filter((layer) => !needs(layer) || own.some((row) => row[needs(layer)] != null));
    if (wanted.facet) return { ...wanted, spec: { ...inner, width: width - 70 }, data: { values: own } };
    const sized = { ...wanted, width, autosize: { type: "fit-x", contains: "padding" }, data: { values: own } };
    if (sized.height?.step) sized.height = sized.height.step * new Set(rows.map((row) => row.name ?? row.variant ?? row.language + row.model)).size;
    return sized;
  };
  const config = () => {
    const [ink, muted, rule] = ["--ink", "--muted", "--rule"].map(css);
    const text = { labelColor: ink, titleColor: muted, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
    return {
      background: "transparent", font: css("--font"), view: { stroke: null }, text: { color: ink },
      axis: { ...text, gridColor: rule, domainColor: rule, tickColor: rule, titlePadding: 10 },
      axisX: { labelFlush: false }, header: { labelColor: ink, labelFontSize: 12 },
      title: { color: ink, subtitleColor: muted, anchor: "start", fontSize: 16, subtitleFontSize: 12, offset: 14 },
    };
  };
  // ast: expressions are interpreted, because the policy allows no eval.
  const OPTIONS = { mode: "vega-lite", actions: false, ast: true, renderer: "svg", defaultStyle: false, tooltip: { disableDefaultStyle: true, theme: "custom" } };
  const embed = (target, spec) => vegaEmbed(target, spec, { ...OPTIONS, config: config() });
  const draw = async (figure) => {
    const plot = $(".plot", figure);
    const rows = chosen(figure);
    if (!rows.length) return;
    drawn.set(plot, figure);
    figure.drawnAt = plot.clientWidth;
    $(".conditions", figure)?.replaceChildren(conditions(figure, rows));
    const inner = make("div");
    await embed(inner, specOf(figure, Math.max(240, plot.clientWidth), rows));
    $("svg", inner)?.setAttribute("aria-hidden", "true");
    plot.replaceChildren(inner);
    if ($(".data", figure)?.open) tabulate(figure, rows);
  };
  const save = async (figure, kind) => {
    const rows = chosen(figure);
    const says = $(".says", figure)?.textContent.trim() ?? "";
    const lines = `${says} ${conditions(figure, rows)}`.match(/.{1,110}(\s|$)/g);
    const title = { text: $("figcaption", figure).textContent.trim(), subtitle: lines };
    const spec = { ...specOf(figure, 820, rows), title, background: css("--page"), padding: 24 };
    const { view } = await embed(make("div"), spec);
    const href = kind === "svg" ? URL.createObjectURL(new Blob([await view.toSVG()], { type: "image/svg+xml" })) : await view.toImageURL("png", 2);
    make("a", { href, download: `${figure.id}.${kind}` }).click();
  };
  const row = (each, fields) => make("tr", {}, ...fields.map((field) => make("td", { class: typeof each[field] === "number" && "number" }, shown(each[field]))));
  const tableOf = (rows, fields) =>
    make("table", {}, make("thead", {}, make("tr", {}, ...fields.map((field) => make("th", { scope: "col" }, field.replaceAll("_", " "))))),
      make("tbody", {}, ...rows.map((each) => row(each, fields))));
  const HIDDEN = new Set(["hue", "run", "label", "label_y", "end", "name", "wide", "place", "beyond", "text"]);
  const tabulate = (figure, rows = chosen(figure)) => {
    const fields = [...new Set(rows.slice(0, 300).flatMap(Object.keys))].filter((field) => !HIDDEN.has(field) && !field.startsWith("_"));
    $(".data > div", figure).replaceChildren(tableOf(rows.slice(0, 300), fields), rows.length > 300 ? `The first 300 of ${rows.length} rows.` : "");
  };
  const begin = (figure) => {
    for (const each of $$("[data-state]", figure)) {
      if (each.type === "checkbox") control(each);
      else each.addEventListener("input", () => set(each.dataset.state, each.value));
      on(each.dataset.state, () => draw(figure));
    }
    for (const button of $$("[data-save]", figure)) button.addEventListener("click", () => save(figure, button.dataset.save));
    $(".data", figure)?.addEventListener("toggle", (event) => event.target.open && tabulate(figure));
    seen.observe(figure);
  };
  const appear = (entries) => entries.forEach(({ target, isIntersecting }) => isIntersecting && (seen.unobserve(target), draw(target)));
  const seen = new IntersectionObserver(appear, { rootMargin: "300px" });

  // ---- prices ----
  const SECONDS = 30.44 * 86400;
  const PRICED = { application: "price.app", database: "price.db", pooler: "price.pooler", proxy: "price.pooler" };
  const priceOf = (key) => Math.max(0, Number($(`[data-state="${key}"]`).value) || 0);
  const computed = {
    // A million requests of so many microseconds each are so many seconds of one core.
    cost: () =>
      rowsOf("roles").filter((row) => PRICED[row.role]).map(({ us, ...row }) =>
        ({ ...row, cost: (priceOf(PRICED[row.role]) / SECONDS / Math.max(1, priceOf("price.cores"))) * us })),
  };

  // ---- the table ----
  const COLUMNS = [
    ["label", "variant"], ["scenario", "scenario"], ["condition", "condition"], ["verdict", "verdict"], ["goodput", "goodput, 1/s"],
    ["total", "CPU of all roles, µs/request"], ["cpu", "app CPU, µs/request"], ["p50", "p50, ms"], ["p99", "p99, ms"], ["limited", "limited by"], ["starts", "starts"], ["run", "result"],
  ];
  const filtered = () => {
    const words = wordsOf("q");
    const rows = rowsOf("lines").filter((row) => {
      if (["scenario", "verdict", "study"].some((field) => state.get(field) && row[field] !== state.get(field))) return false;
      const text = words.length && Object.values(row).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const [field, down] = (state.get("sort") || "").split("~");
    if (!field) return rows;
    const key = (row) => row[field] ?? (down ? -Infinity : Infinity);
    const order = (a, b) => (typeof key(a) === "string" && typeof key(b) === "string" ? key(a).localeCompare(key(b), "en", { numeric: true }) : key(a) - key(b));
    return [...rows].sort((a, b) => (down ? order(b, a) : order(a, b)));
  };
  const cell = (row, field) => {
    const half = row[`${field}_half`];
    if (field === "run") return make("a", { href: `runs/${encodeURIComponent(row.run)}.html` }, `${row.study}, ${row.date}`);
    if (field === "verdict") return make("span", { class: `verdict ${row.verdict}`, title: row.reasons || undefined }, row.verdict);
    return shown(row[field]) + (half ? ` ± ${shown(half)}` : "");
  };
  const fillTable = () => {
    const body = $("#lines tbody");
    if (!body) return;
    const rows = filtered();
    const most = state.get("all") ? 5000 : 50;
    $$("#lines th").forEach((head) => {
      const [field, down] = (state.get("sort") || "").split("~");
      head.setAttribute("aria-sort", field === head.dataset.field ? (down ? "descending" : "ascending") : "none");
    });
    body.replaceChildren(...rows.slice(0, most).map((row) => make("tr", { class: row.verdict === "ok" ? undefined : "bad" },
      ...COLUMNS.map(([field]) => make("td", { class: ["goodput", "total", "cpu", "p50", "p99", "starts"].includes(field) && "number" }, cell(row, field))))));
    const [some, found, all] = [Math.min(most, rows.length), rows.length, rowsOf("lines").length].map((count) => count.toLocaleString("en"));
    $("#count").textContent = `${some} of ${found} lines shown, ${all} in total.`;
  };
  const copy = async (kind) => {
    const fields = [...COLUMNS.map(([field]) => field), "goodput_half", "total_half", "cpu_half", "reasons", "study", "date"];
    const rows = filtered().map((row) => Object.fromEntries(fields.map((field) => [field, row[field] ?? null])));
    // A cell that begins like a formula would be one to a spreadsheet.
    const quoted = (value) => `"${String(value ?? "").replace(/^(?=[=+@\t-])(?!-?\d)/, "'").replaceAll('"', '""')}"`;
    const csv = () => [fields.join(","), ...rows.map((row) => fields.map((field) => quoted(row[field])).join(","))].join("\r\n");
    const text = kind === "json" ? JSON.stringify(rows, null, 1) : csv();
    await navigator.clipboard.writeText(text); // a file URL is a secure context
    $("#copied").textContent = `${rows.length.toLocaleString("en")} lines copied as ${kind.toUpperCase()}.`;
  };
  const beginTable = () => {
    const row = $("#lines thead tr");
    row.replaceChildren(...COLUMNS.map(([field, name]) => make("th", { scope: "col", "data-field": field },
      make("button", { type: "button" }, name))));
    row.addEventListener("click", ({ target }) => {
      const field = target.closest("th").dataset.field;
      if (target.tagName === "BUTTON") set("sort", state.get("sort") === field ? `${field}~down` : field);
    });
    for (const key of ["q", "scenario", "verdict", "study", "all"]) {
      const element = $(`#table [data-state="${key}"]`);
      const values = element.tagName === "SELECT" ? [...new Set(rowsOf("lines").map((each) => each[key]))].sort() : [];
      element.append(...values.map((value) => make("option", { value }, value)));
      control(element);
    }
    ["q", "scenario", "verdict", "study", "all", "sort"].forEach((key) => on(key, fillTable));
    $$("[data-copy]").forEach((button) => button.addEventListener("click", () => copy(button.dataset.copy)));
    fillTable();
  };

  // ---- search in the documents ----
  const search = () => {
    const words = wordsOf("find");
    const found = json("pages").filter((page) => words.every((word) => `${page.title} ${page.text}`.toLowerCase().includes(word)));
    const from = (page) => Math.max(0, page.text.toLowerCase().indexOf(words[0]) - 60);
    const excerpt = (page) => `…${page.text.slice(from(page), from(page) + 180)}…`;
    const item = (page) => make("li", {}, make("a", { href: page.href }, page.title), make("p", {}, excerpt(page)));
    $("#found").replaceChildren(...(words.length ? found.map(item) : []));
    $("#found-count").textContent = words.length ? `${found.length} pages contain ${words.join(" and ")}.` : "";
    $("#all-pages").hidden = words.length > 0;
  };

  // ---- begin ----
  document.addEventListener("click", keepTheme);
  on("theme", theme);
  $$("header [data-state]").forEach((each) => control(each));
  theme();
  if ($("#lines")) beginTable();
  $$("[data-prices] [data-state]").forEach((each) => {
    control(each, each.defaultValue);
    on(each.dataset.state, () => draw($("#figure-cost")));
  });
  $$("figure[data-figure]").forEach(begin);
  if ($("#find")) [control($("#find")), on("find", search), search()];
  ["(prefers-color-scheme: dark)", "print"].forEach((media) => matchMedia(media).addEventListener("change", theme));
  addEventListener("beforeprint", () => $$("figure[data-figure]").forEach((figure) => draw(figure)));
  addEventListener("resize", () => drawn.forEach((figure) => $(".plot", figure).clientWidth !== figure.drawnAt && draw(figure)));
  addEventListener("hashchange", () => {
    for (const key of [...state.keys()]) state.delete(key);
    new URLSearchParams(location.hash.slice(1)).forEach((value, key) => state.set(key, value));
    Object.values(listeners).flat().forEach((listener) => listener());
  });
  go(state.get("at"));
})();
