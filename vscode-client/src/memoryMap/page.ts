/** The page around the map: choices, search, groups, the live set, the table, and the hover card. */

import { facts, HoverCard } from "./card";
import { Groups, type Group } from "./colors";
import { boxColumns, liveColumns } from "./columns";
import { button, choice, element } from "./dom";
import { countNoun, formatBytes, formatCount, shortLine } from "./format";
import { groupRows } from "./groupRows";
import type { FileLine, Host } from "./host";
import { liveSet, type LiveBuffer } from "./liveSet";
import { MapView } from "./mapView";
import {
  bytesAt,
  GROUPINGS,
  Module,
  parseDocument,
  type Box,
  type Grouping,
  type MemoryMapDocument,
  type Space,
} from "./model";
import type { Target } from "./picking";
import { SortedTable } from "./table";

const GROUPING_TITLES: Record<Grouping, string> = {
  line: "Python line",
  scope: "scope",
  opcode: "opcode",
  shape: "shape",
  role: "role",
};
const KEYS =
  "Scroll to zoom, drag to pan; with Shift only steps, with Alt only bytes. Keys: arrows pan, + and - zoom, " +
  "0 shows everything, Shift+Left and Shift+Right change the step, / searches, P goes to the peak.";

export class Page {
  private modules: Module[] = [];
  private module: Module | undefined;
  private space: Space | undefined;
  private grouping: Grouping = "line";
  private groups: Groups | undefined;
  private step = 0;
  private matches: readonly Box[] = [];
  private match = -1;
  private chosenGroup: string | undefined;

  private readonly title = element("h1");
  private readonly subtitle = element("p", { class: "subtitle" });
  private readonly moduleChoice = element("div", { class: "modules" });
  private readonly spaceChoice = element("div", { class: "spaces", role: "group", "aria-label": "Memory space" });
  private readonly message = element("p", { class: "message", role: "status" });
  private readonly searchBox = element("input", {
    type: "search",
    placeholder: "Name, line, scope, shape",
    "aria-label": "Search buffers",
  });
  private readonly matchCount = element("span", { class: "matches", role: "status" });
  private readonly mapRoot = element("div", { class: "map" });
  private readonly view: MapView;
  private readonly card: HoverCard;
  private readonly stepTitle = element("h2");
  private readonly selected = element("section", { class: "selected", "aria-label": "Selected buffer", hidden: "" });
  private readonly groupList = element("ul", { class: "groups", "aria-label": "Groups" });
  private readonly live: SortedTable<LiveBuffer>;
  private readonly all: SortedTable<Box>;
  private readonly main = element("div", { class: "content" });
  private readonly tableButton: HTMLButtonElement;

  constructor(
    private readonly root: HTMLElement,
    private readonly host: Host,
  ) {
    // Tests read where boxes are.
    Object.assign(root, { memoryMap: this });
    this.card = new HoverCard(host);
    this.view = new MapView(this.mapRoot, {
      hover: (target, event) => {
        this.hover(target, event);
      },
      click: (target) => {
        this.click(target);
      },
      step: (step) => {
        this.showStep(step);
      },
    });
    this.live = new SortedTable<LiveBuffer>("Buffers at the step", liveColumns((box, grouping) => this.groupOf(box, grouping), () => this.grouping), ({ box }) => {
      this.goTo(box, true);
    });
    this.all = new SortedTable<Box>("All buffers", boxColumns((box, grouping) => this.groupOf(box, grouping), (box) => this.module?.bandOf(box)?.label ?? ""), (box) => {
      this.goTo(box, true);
    });
    this.tableButton = button("Table", { "aria-pressed": "false" }, () => {
      this.toggleTable();
    });
    this.build();
    this.listen();
  }

  /** Show the maps of a document, the first one at once. */
  load(document: MemoryMapDocument, adds: boolean): void {
    const modules = document.modules.map((data) => new Module(data));
    this.modules = adds ? [...modules, ...this.modules] : modules;
    const selected = Math.max(
      0,
      this.modules.findIndex(({ data }) => data.path === this.module?.data.path),
    );
    const options = this.modules.map(({ data }, index) => [String(index), titleOf(data.name, data.path)] as const);
    this.moduleChoice.replaceChildren(
      ...(options.length > 1
        ? [
            choice("Module", options, (value) => {
              this.showModule(this.modules[Number(value)]);
            }),
          ]
        : []),
    );
    this.showModule(this.modules[adds ? 0 : selected]);
  }

  showMessage(text: string): void {
    this.message.textContent = text;
    this.message.hidden = text === "";
  }

  /** Highlight the boxes of a line of a dump file, such as the one with the cursor. */
  highlight({ uri, line }: FileLine): void {
    const { module } = this;
    if (module === undefined) {
      return;
    }
    const { assignment, module: text } = module.data.files;
    const isAt = (box: Box): boolean =>
      (uri === assignment && box.assignmentLine === line) || (uri === text && box.moduleLine === line);
    const spaces = this.space === undefined ? module.spaces : [this.space, ...module.spaces];
    for (const space of spaces) {
      const found = space.boxes.filter(isAt).sort((one, other) => other.size - one.size)[0];
      if (found !== undefined) {
        if (space !== this.space) {
          this.showSpace(space);
        }
        this.selectBox(found);
        return;
      }
    }
  }

  /** Return where the largest box of a name is in the window. */
  pointOf(name: string): { x: number; y: number } | undefined {
    const box = this.space?.boxes
      .filter((each) => each.name === name)
      .sort((one, other) => other.size - one.size)[0];
    return box && this.view.clientPoint((box.start + box.end + 1) / 2, box.low + box.size / 2);
  }

  /** Return the bytes of the buffers at a step of a memory space, the largest first. */
  liveBytes(number: number, step: number): number[] {
    const space = this.module?.spaces.find((each) => each.number === number);
    return space === undefined ? [] : liveSet(space, step).map(({ bytes }) => bytes);
  }

  refreshTheme(): void {
    this.view.refreshTheme();
  }

  private build(): void {
    const tools = element(
      "div",
      { class: "tools" },
      choice(
        "Color by",
        GROUPINGS.map((grouping) => [grouping, GROUPING_TITLES[grouping]] as const),
        (value) => {
          this.grouping = value as Grouping;
          this.showGroups();
        },
      ),
      element("div", { class: "search" }, this.searchBox, this.matchCount),
      this.fixedChoice(),
      button("Peak", { title: "Go to the peak (P)" }, () => {
        this.showPeak();
      }),
      button("Reset zoom", { title: "Show everything (0)" }, () => {
        this.view.reset();
      }),
      this.tableButton,
      ...(this.host.isEditor ? [] : [this.fileButton()]),
    );
    const side = element("aside", { "aria-label": "Step" }, this.stepTitle, this.selected, this.groupList, this.live.element);
    const keys = element("p", { id: "memory-map-keys", class: "keys" }, KEYS);
    this.main.append(this.mapRoot, this.all.element);
    this.all.element.hidden = true;
    this.message.hidden = true;
    this.root.append(
      element(
        "header",
        {},
        element("div", { class: "titles" }, this.title, this.subtitle),
        this.moduleChoice,
        this.spaceChoice,
        tools,
        this.message,
      ),
      element("main", {}, this.main, side),
      element("footer", {}, keys),
      this.card.element,
    );
  }

  private fixedChoice(): HTMLElement {
    const box = element("input", { type: "checkbox", checked: "" });
    box.addEventListener("change", () => {
      this.view.showFixed(box.checked);
    });
    const title = "Allocations of arguments, outputs, and constants, which are occupied at all steps";
    return element("label", { class: "choice", title }, box, element("span", {}, "Fixed allocations"));
  }

  private fileButton(): HTMLElement {
    const input = element("input", { type: "file", accept: ".json,application/json", hidden: "" });
    input.addEventListener("change", () => {
      void input.files?.[0]?.text().then((text) => {
        this.loadText(text);
      });
    });
    const open = button("Open map…", { title: "Open the JSON of another dump, or drop it on the page" }, () => {
      input.click();
    });
    return element("span", {}, open, input);
  }

  /** Load a JSON text that the user chose. */
  loadText(text: string): void {
    try {
      this.load(parseDocument(text), true);
    } catch (error) {
      this.showMessage(error instanceof Error ? error.message : String(error));
    }
  }

  private listen(): void {
    this.searchBox.addEventListener("input", () => {
      this.search();
    });
    this.searchBox.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.matches.length > 0) {
        const count = this.matches.length;
        this.match = (this.match + (event.shiftKey ? count - 1 : 1)) % count;
        this.goTo(this.matches[this.match], false);
      } else if (event.key === "Escape") {
        this.searchBox.value = "";
        this.search();
      }
    });
    document.addEventListener("keydown", (event) => {
      if (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) {
        return;
      }
      if (event.key === "/") {
        event.preventDefault();
        this.searchBox.focus();
      } else if (event.key === "p" || event.key === "P") {
        this.showPeak();
      } else if (event.key === "Escape") {
        this.card.hide();
      }
    });
  }

  private showModule(module: Module | undefined): void {
    this.module = module;
    if (module === undefined) {
      return;
    }
    const { data } = module;
    this.title.textContent = data.name;
    const count = data.boxes.id.length;
    this.subtitle.textContent = `${data.backend} · ${countNoun(module.lastStep, "step")} · ${countNoun(count, "buffer")}`;
    this.subtitle.title = data.path;
    this.showMessage(data.missing.join(" · "));
    this.spaceChoice.replaceChildren(
      ...module.spaces.map((space) => {
        const peak = space.curve === undefined ? "" : `${formatBytes(space.curve.peakBytes)} of `;
        const tab = button("", { "aria-pressed": "false" }, () => {
          this.showSpace(space);
        });
        tab.append(element("strong", {}, space.name), ` ${peak}${formatBytes(space.allocatedBytes)}`);
        return tab;
      }),
    );
    const space = module.spaces.find(({ number }) => number === this.space?.number) ?? module.spaces[0];
    if (space !== undefined) {
      this.showSpace(space);
    }
  }

  private showSpace(space: Space): void {
    this.space = space;
    this.selectBox(undefined);
    this.module?.spaces.forEach((each, index) => {
      this.spaceChoice.children[index]?.setAttribute("aria-pressed", String(each === space));
    });
    this.step = space.curve?.peakStep ?? 0;
    this.showGroups(false);
    this.all.show([...space.boxes].sort((one, other) => other.size - one.size));
  }

  private showGroups(keepsZoom = true): void {
    const { module, space } = this;
    if (module === undefined || space === undefined) {
      return;
    }
    this.groups = new Groups(module, space, this.grouping);
    this.chosenGroup = undefined;
    this.view.show(module, space, this.groups, keepsZoom);
    this.root.dataset["boxes"] = String(this.view.boxCount);
    this.search();
    this.showStep(this.step);
  }

  private showPeak(): void {
    const peak = this.space?.curve?.peakStep;
    if (peak !== undefined) {
      this.showStep(peak);
    }
  }

  private showStep(step: number): void {
    const { module, space } = this;
    if (module === undefined || space === undefined) {
      return;
    }
    this.step = step;
    this.view.pin(space.curve === undefined ? undefined : step);
    const buffers = space.curve === undefined ? liveSet(space, -1) : liveSet(space, step);
    const instruction = module.instructionAt(step);
    const total = space.curve === undefined ? space.allocatedBytes : bytesAt(space.curve, step);
    const isPeak = space.curve?.peakStep === step;
    this.stepTitle.replaceChildren(
      element("span", { class: "total" }, formatBytes(total)),
      space.curve === undefined
        ? " allocated"
        : ` ${isPeak ? "at the peak, " : "at "}step ${formatCount(step)}${instruction === undefined ? "" : ` · ${instruction}`}`,
    );
    this.live.show(buffers);
    this.groupList.replaceChildren(
      ...groupRows(buffers, total, this.groups, this.chosenGroup, (name, group) => {
        this.chooseGroup(name, group);
      }),
    );
  }

  private chooseGroup(name: string, group: Group | undefined): void {
    this.chosenGroup = this.chosenGroup === name || group === undefined ? undefined : name;
    this.view.choose(this.chosenGroup === undefined ? undefined : new Set(group?.boxes));
    this.showStep(this.step);
  }

  private search(): void {
    const { module, space } = this;
    if (module === undefined || space === undefined) {
      return;
    }
    const isSearch = this.searchBox.value.trim() !== "";
    const found = module.search(space, this.searchBox.value);
    this.matches = [...found].sort((one, other) => other.size - one.size);
    this.match = -1;
    this.matchCount.textContent = isSearch ? countNoun(found.size, "buffer") : "";
    this.view.choose(isSearch ? found : undefined);
    this.all.show(isSearch ? this.matches : [...space.boxes].sort((one, other) => other.size - one.size));
  }

  private toggleTable(): void {
    const isTable = this.all.element.hidden;
    this.all.element.hidden = !isTable;
    this.mapRoot.hidden = isTable;
    this.tableButton.setAttribute("aria-pressed", String(isTable));
  }

  private hover(target: Target | undefined, event: PointerEvent): void {
    if (target?.band !== undefined) {
      this.card.showBand(target.band, event);
      return;
    }
    if (target?.box === undefined || this.module === undefined || this.space === undefined) {
      this.card.hide();
      return;
    }
    this.card.show(this.module, this.space, target.box, this.places(target.box), event);
  }

  private click(target: Target): void {
    this.showStep(target.step);
    this.goTo(target.box, false, false);
  }

  private goTo(box: Box | undefined, opensMap: boolean, reveals = true): void {
    this.selectBox(box);
    if (box === undefined) {
      return;
    }
    if (opensMap && this.mapRoot.hidden) {
      this.toggleTable();
    }
    if (reveals) {
      this.view.reveal(box);
    }
    this.host.open(this.places(box));
  }

  private selectBox(box: Box | undefined): void {
    this.view.select(box);
    this.selected.hidden = box === undefined;
    if (box !== undefined && this.module !== undefined && this.space !== undefined) {
      this.selected.replaceChildren(...facts(this.module, this.space, box));
    }
    this.root.dataset["selected"] = box?.name ?? "";
  }

  private groupOf(box: Box, grouping: Grouping): string {
    return this.module === undefined ? "" : shortLine(this.module.group(box, grouping));
  }

  private places(box: Box): FileLine[] {
    const { assignment, module } = this.module?.data.files ?? { assignment: null, module: null };
    return [
      ...(assignment === null ? [] : [{ uri: assignment, line: box.assignmentLine }]),
      ...(module === null || box.moduleLine < 0 ? [] : [{ uri: module, line: box.moduleLine }]),
    ];
  }
}

/** Return the name of a module with the folder of its dump, because many modules have one name. */
function titleOf(name: string, path: string): string {
  const folder = /([^\\/]+)[\\/][^\\/]*$/.exec(path)?.[1];
  return folder === undefined ? name : `${name} · ${folder}`;
}
