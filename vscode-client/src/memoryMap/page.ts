/** The page around the map: choices, search, the panel of the step, the table, and the hover card. */

import { HoverCard } from "./card";
import { Groups } from "./colors";
import { boxColumns } from "./columns";
import { correspondingStep, spaceNamed } from "./comparison";
import { button, choice, element } from "./dom";
import { countNoun } from "./format";
import { describeTimes, entriesOf, nameOf, type Entry } from "./entries";
import { fileButton, placesOf } from "./files";
import { legendOf } from "./fixedBand";
import type { FileLine, Host } from "./host";
import { KEYS } from "./keyboard";
import { liveSet } from "./liveSet";
import { GROUPING_TITLES, GROUPINGS, parseDocument, type Box, type Grouping, type MemoryMapDocument, type Module, type Space } from "./model";
import { Notes } from "./notes";
import { clampStep, type Target } from "./picking";
import { bySize, SearchBox } from "./searchBox";
import { Side } from "./side";
import { SpaceTabs } from "./spaceTabs";
import { StepPanel } from "./stepPanel";
import { SortedTable } from "./table";
import { Frame } from "./viewport";

export class Page {
  private entries: readonly Entry[] = [];
  private entry: Entry | undefined;
  private sides: readonly Side[] = [];
  private frame = new Frame();
  private spaceName: string | undefined;
  private grouping: Grouping = "line";
  private groups: Groups | undefined;
  private found: readonly Box[] | undefined;
  private chosenGroup: string | undefined;

  private readonly title = element("h1");
  private readonly subtitle = element("p", { class: "subtitle" });
  private readonly entryChoice = element("div", { class: "modules" });
  private readonly spaceTabs: SpaceTabs;
  private readonly groupingChoice = element("div");
  private readonly axisChoice = element("div");
  private readonly fixedBox = element("input", { type: "checkbox" });
  private readonly message = element("p", { class: "message", role: "status" });
  private readonly searchBox: SearchBox;
  private readonly maps = element("div", { class: "maps" });
  private readonly legend = element("ul", { class: "legend", "aria-label": "Legend" });
  private readonly notes = new Notes();
  private readonly content: HTMLElement;
  private readonly card: HoverCard;
  private readonly panel: StepPanel;
  private readonly all: SortedTable<Box>;
  private readonly tableButton: HTMLButtonElement;

  constructor(
    private readonly root: HTMLElement,
    private readonly host: Host,
  ) {
    // Tests read where boxes are.
    Object.assign(root, { memoryMap: this });
    this.all = new SortedTable<Box>("All buffers", (box) => {
      this.goTo(box, true);
    });
    this.content = element("div", { class: "content" }, this.maps, this.all.element, this.legend, this.notes.element);
    this.card = new HoverCard(this.content);
    const open = (box: Box | undefined): void => {
      this.goTo(box, true);
    };
    const choose = (name: string): void => {
      this.chooseGroup(name);
    };
    this.panel = new StepPanel(() => this.grouping, open, choose);
    this.spaceTabs = new SpaceTabs((name) => {
      this.showSpace(name);
    });
    const search = (): void => {
      this.search();
    };
    this.searchBox = new SearchBox(search, (box) => {
      this.goTo(box, false);
    });
    this.tableButton = button("Table", { "aria-pressed": "false" }, () => {
      this.toggleTable();
    });
    this.build();
    this.listen();
  }

  /** Show the maps of a document, the first one at once: its comparisons, or its modules. */
  load(document: MemoryMapDocument, adds: boolean): void {
    const entries = entriesOf(document);
    this.entries = adds ? [...entries, ...this.entries] : entries;
    const shown = this.entry?.[0].data.path;
    const selected = Math.max(0, this.entries.findIndex(([first]) => first.data.path === shown));
    const options = this.entries.map((entry, index) => [String(index), nameOf(entry)] as const);
    const entryChoice = choice("Module", options, (value) => {
      this.showEntry(this.entries[Number(value)]);
    });
    this.entryChoice.replaceChildren(...(options.length > 1 ? [entryChoice] : []));
    this.showEntry(this.entries[adds ? 0 : selected]);
  }

  showMessage(text: string): void {
    this.message.textContent = text;
    this.message.hidden = text === "";
  }

  /** Highlight the boxes of a line of a dump file, such as the one with the cursor. */
  highlight({ uri, line }: FileLine): void {
    for (const { module, space } of this.sides) {
      const { assignment, module: text } = module.data.files;
      const isAt = (box: Box): boolean =>
        (uri === assignment && box.assignmentLine === line) || (uri === text && box.moduleLine === line);
      for (const each of [space, ...module.spaces]) {
        const found = each.boxes.filter(isAt).sort((one, other) => other.size - one.size)[0];
        if (found !== undefined) {
          this.showSpaceOf(found);
          this.selectBox(found);
          return;
        }
      }
    }
  }

  /** Return where the largest box of a name is in the window. */
  pointOf(name: string, number = 0): { x: number; y: number } | undefined {
    const side = this.sides[number];
    const box = side?.space.boxes
      .filter((each) => each.name === name)
      .sort((one, other) => other.size - one.size)[0];
    return box && side.view.clientPoint((box.start + box.end + 1) / 2, box.low + box.size / 2);
  }

  /** Return the bytes of the buffers at a step of a memory space, the largest first. */
  liveBytes(number: number, step: number): number[] {
    const space = this.entry?.[0].spaces.find((each) => each.number === number);
    return space === undefined ? [] : liveSet(space, step).map(({ bytes }) => bytes);
  }

  refreshTheme(): void {
    this.sides.forEach(({ view }) => {
      view.refreshTheme();
    });
  }

  private build(): void {
    this.fixedBox.addEventListener("change", () => {
      this.showFixed(this.fixedBox.checked);
    });
    const fixedTitle = "Allocations of arguments, outputs, and constants, which are occupied at all steps";
    const tools = element(
      "div",
      { class: "tools" },
      this.groupingChoice,
      this.axisChoice,
      this.searchBox.element,
      element("label", { class: "choice fixed-choice", title: fixedTitle }, this.fixedBox, element("span", {}, "Fixed allocations")),
      button("Peak", { title: "Go to the peak (P)" }, () => {
        this.showPeak();
      }),
      button("Reset zoom", { title: "Show everything (0)" }, () => {
        this.sides[0]?.view.reset();
      }),
      this.tableButton,
      ...(this.host.isEditor ? [] : [
            fileButton((text) => {
              this.loadText(text);
            }),
          ]),
    );
    const keys = element("p", { id: "memory-map-keys", class: "keys" }, KEYS);
    const titles = element("div", { class: "titles" }, this.title, this.subtitle);
    this.all.element.hidden = true;
    this.message.hidden = true;
    this.root.append(
      element("header", {}, titles, this.entryChoice, this.spaceTabs.element, tools, this.message),
      element("main", {}, this.content, this.panel.element),
      element("footer", {}, keys),
      this.card.element,
    );
  }

  /** Load a JSON text that the user chose. */
  loadText(text: string): void {
    try {
      this.load(parseDocument(text), true);
    } catch (error) {
      this.showMessage(error instanceof Error ? error.message : String(error));
    }
  }

  /** Show or hide the fixed allocations in the map, the lists, and the table. */
  private showFixed(isShown: boolean): void {
    this.fixedBox.checked = isShown;
    this.frame.showsFixed = isShown;
    const { chosenGroup } = this;
    this.showGroups(true);
    if (chosenGroup !== undefined) {
      this.chooseGroup(chosenGroup);
    }
    this.sides[0]?.view.reset();
  }

  private listen(): void {
    document.addEventListener("pointermove", ({ target }) => {
      if (!(target instanceof Element && this.maps.contains(target))) {
        this.card.hide(); // the map has not noticed if it was replaced below the pointer
      }
    });
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (isTyping || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) {
        return;
      }
      if (event.key === "/") {
        event.preventDefault();
        this.searchBox.focus();
      } else if (event.key === "p" || event.key === "P") {
        this.showPeak();
      } else if (event.key === "Escape") {
        this.card.hide();
      } else if (/^[wasd]$/i.test(event.key)) {
        this.sides[0]?.view.pressed(event);
      }
    });
  }

  private showEntry(entry: Entry | undefined): void {
    this.entry = entry;
    this.card.hide();
    if (entry === undefined) {
      return;
    }
    const [{ data, lastStep }, other] = entry;
    const isComparison = other !== undefined;
    this.root.classList.toggle("comparing", isComparison);
    this.title.textContent = isComparison && other.data.name !== data.name ? `${data.name} → ${other.data.name}` : data.name;
    const matched = entry[0].boxes.filter(({ match }) => match !== undefined).length;
    const counts = `${countNoun(lastStep, "step")} · ${countNoun(data.boxes.id.length, "buffer")}`;
    const shown = isComparison ? `${countNoun(matched, "buffer")} in both` : counts;
    const backends = [...new Set(entry.map((each) => each.data.backend))].join(" → ");
    this.subtitle.textContent = [backends, shown, ...describeTimes(entry)].join(" · ");
    this.subtitle.title = entry.map((each) => each.data.path).join("\n");
    this.showMessage([...new Set(entry.flatMap((each) => each.data.missing))].join(" · "));
    this.showGroupings(isComparison);
    this.all.setColumns(boxColumns(isComparison));
    const names = [...new Set(entry.flatMap(({ spaces }) => spaces.map(({ pair }) => pair)))];
    const { showsTime } = this.frame;
    this.frame = new Frame();
    this.frame.showsFixed = this.fixedBox.checked;
    this.frame.showsTime = showsTime;
    this.showAxes(entry);
    this.sides = entry.map((module) => this.createSide(module, spaceNamed(module, names[0] ?? "")));
    this.maps.replaceChildren(...this.sides.map((side) => side.element));
    this.spaceTabs.show(entry, names);
    const name = names.find((each) => each === this.spaceName) ?? names[0];
    if (name !== undefined) {
      this.showSpace(name);
    }
  }

  private createSide(module: Module, space: Space): Side {
    const side: Side = new Side(
      this.frame,
      {
        hover: (target, event) => {
          this.hover(side, target, event);
        },
        click: (target) => {
          this.showStep(side, target.step);
          this.goTo(target.box, false, false);
        },
        step: (step) => {
          this.showStep(side, step);
        },
      },
      () => {
        this.showFixed(!this.fixedBox.checked);
      },
      module,
      space,
    );
    return side;
  }

  private showGroupings(isComparison: boolean): void {
    if (isComparison !== (this.grouping === "change")) {
      this.grouping = isComparison ? "change" : "line";
      this.fixedBox.checked = isComparison; // arguments can be what differs
    }
    const groupings: readonly Grouping[] = isComparison ? ["change", ...GROUPINGS] : GROUPINGS;
    const options = groupings.map((grouping) => [grouping, GROUPING_TITLES[grouping]] as const);
    this.groupingChoice.replaceChildren(
      choice("Color by", options, (value) => {
        this.grouping = value as Grouping;
        this.showGroups(true);
      }),
    );
  }

  /** Offer steps and their time as the horizontal axis, if the time is known. */
  private showAxes(entry: Entry): void {
    const titles = new Set(entry.map(({ timedSteps }) => timedSteps?.data.title));
    const options = [["steps", "steps"] as const, ["time", [...titles].join(", ")] as const];
    const axes = choice("Axis", options, (value) => {
      this.frame.showsTime = value === "time";
      this.showGroups(true);
      this.sides[0]?.view.reset();
    });
    const list = axes.querySelector("select");
    if (list !== null) {
      list.value = this.frame.showsTime ? "time" : "steps";
    }
    this.axisChoice.replaceChildren(...(titles.has(undefined) ? [] : [axes]));
  }

  private showSpace(name: string): void {
    this.spaceName = name;
    this.selectBox(undefined);
    this.spaceTabs.mark(name);
    for (const side of this.sides) {
      side.space = spaceNamed(side.module, name);
      side.step = side.space.curve?.peakStep ?? 0;
    }
    this.showGroups(false);
  }

  private showSpaceOf(box: Box): void {
    const name = box.module.spaceOf(box)?.pair;
    if (name !== undefined && name !== this.spaceName) {
      this.showSpace(name);
    }
  }

  private showGroups(keepsZoom: boolean): void {
    const modules = this.sides.map(({ module }) => module);
    const spaces = this.sides.map(({ space }) => space);
    const groups = new Groups(modules, spaces, this.grouping);
    this.groups = groups;
    this.chosenGroup = undefined;
    this.frame.fit(modules, spaces);
    this.legend.replaceChildren(...legendOf(spaces, groups, this.frame.showsFixed));
    this.notes.show(this.sides);
    this.sides.forEach((side) => {
      side.show(side.space, groups, keepsZoom);
      side.pin(side.step);
    });
    this.root.dataset["boxes"] = String(this.sides.reduce((sum, { view }) => sum + view.boxCount, 0));
    this.search();
  }

  private showPeak(): void {
    for (const side of this.sides) {
      side.pin(side.space.curve?.peakStep ?? side.step);
    }
    this.showPanel();
  }

  /** Show the buffers at a step of one side, and at the corresponding step of the other. */
  private showStep(side: Side, step: number): void {
    for (const each of this.sides) {
      each.pin(each === side ? step : clampStep(each.module, correspondingStep(side.module, step)));
    }
    this.showPanel();
  }

  private chooseGroup(name: string | undefined): void {
    const group = name === undefined || this.chosenGroup === name ? undefined : this.groups?.named(name);
    this.chosenGroup = group?.name;
    this.choose(group === undefined ? undefined : new Set(group.boxes));
    this.showPanel();
  }

  private choose(boxes: ReadonlySet<Box> | undefined): void {
    this.sides.forEach(({ view }) => {
      view.choose(boxes);
    });
  }

  private showPanel(): void {
    this.panel.show(this.sides, this.groups, this.chosenGroup, this.found && new Set(this.found));
  }

  private search(): void {
    this.found = this.searchBox.find(this.sides);
    const shown = (boxes: readonly Box[]): Box[] =>
      boxes.filter((box) => this.sides.some((side) => side.module === box.module && side.includes(box.allocation)));
    this.choose(this.found && new Set(this.found));
    this.all.show(shown(this.found ?? bySize(this.sides.flatMap(({ space }) => space.boxes))));
    this.showPanel();
  }

  private toggleTable(): void {
    const isTable = this.all.element.hidden;
    this.card.hide();
    this.all.element.hidden = !isTable;
    this.maps.hidden = isTable;
    this.legend.hidden = isTable;
    this.tableButton.setAttribute("aria-pressed", String(isTable));
  }

  private hover(side: Side, target: Target | undefined, event: PointerEvent): void {
    this.sides.forEach((each) => {
      each.mark(each === side ? undefined : target?.box);
    });
    if (target?.band !== undefined) {
      this.card.showBand(target.band, event);
    } else if (target?.box === undefined) {
      this.card.hide();
    } else {
      this.card.show(target.box, target.owner, event);
    }
  }

  private goTo(box: Box | undefined, opensMap: boolean, reveals = true): void {
    if (box !== undefined) {
      this.showSpaceOf(box);
    }
    this.selectBox(box);
    if (box === undefined) {
      return;
    }
    if (opensMap && this.maps.hidden) {
      this.toggleTable();
    }
    if (reveals) {
      if (!this.sides.every((side) => side.module !== box.module || side.includes(box.allocation))) {
        this.showFixed(true);
      }
      this.sides.find(({ module }) => module === box.module)?.view.reveal(box);
    }
    this.host.open(placesOf(box), box.match === undefined ? [] : placesOf(box.match));
  }

  private selectBox(box: Box | undefined): void {
    this.sides.forEach((side) => {
      side.select(box);
    });
    this.panel.select(box);
    this.root.dataset["selected"] = box?.name ?? "";
    this.root.dataset["match"] = box?.match?.name ?? "";
  }
}
