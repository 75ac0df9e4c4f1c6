/** Helpers for elements of the page. */

type Child = Node | string;

/** Create an element with attributes and children. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    created.setAttribute(key, value);
  }
  created.append(...children);
  return created;
}

/** Create a square with a color of the map. */
export function swatch(color: number): HTMLElement {
  const created = element("span", { class: "swatch" });
  created.style.background = `var(--map-color-${color})`;
  return created;
}

/** Create a button that runs an action. */
export function button(label: string, attributes: Readonly<Record<string, string>>, run: () => void): HTMLButtonElement {
  const created = element("button", { type: "button", ...attributes }, label);
  created.addEventListener("click", run);
  return created;
}

/** Create a list to choose from. */
export function choice(
  label: string,
  options: readonly (readonly [string, string])[],
  run: (value: string) => void,
): HTMLLabelElement {
  const list = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
  list.addEventListener("change", () => {
    run(list.value);
  });
  return element("label", { class: "choice" }, element("span", {}, label), list);
}
