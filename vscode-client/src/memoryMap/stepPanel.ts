/** The panel beside the map: the selected buffer, and the groups and buffers at the chosen step. */

import { facts } from "./card";
import type { Groups } from "./colors";
import { changeColumns, liveColumns } from "./columns";
import { joinLive, type ChangedBytes } from "./comparison";
import { element } from "./dom";
import { formatBytes, formatChange, formatCount } from "./format";
import { groupRows } from "./groupRows";
import type { LiveBuffer } from "./liveSet";
import type { Box, Grouping } from "./model";
import type { Side } from "./side";
import { SortedTable } from "./table";

export class StepPanel {
  private readonly title = element("h2");
  private readonly listed = element("p", { class: "listed", role: "status" });
  private readonly selected = element("section", { class: "selected", "aria-label": "Selected buffer", hidden: "" });
  private readonly groupList = element("ul", { class: "groups", "aria-label": "Groups" });
  private readonly live: SortedTable<LiveBuffer>;
  private readonly changes: SortedTable<ChangedBytes>;
  readonly element: HTMLElement;
  /** The buffers at the steps of a comparison. */
  changed: readonly ChangedBytes[] = [];

  constructor(
    grouping: () => Grouping,
    open: (box: Box | undefined) => void,
    private readonly chooseGroup: (name: string) => void,
  ) {
    this.live = new SortedTable<LiveBuffer>("Buffers at the step", ({ box }) => {
      open(box);
    });
    this.live.setColumns(liveColumns(grouping));
    this.changes = new SortedTable<ChangedBytes>("Changes at the steps", ({ box }) => {
      open(box);
    });
    this.changes.setColumns(changeColumns());
    const content = [this.title, this.listed, this.selected, this.groupList, this.live.element, this.changes.element];
    this.element = element("aside", { "aria-label": "Step" }, ...content);
  }

  /**
   * Show the buffers at the chosen step of one map, or how those of two maps differ.
   *
   * @param found the boxes that the search found; undefined without a search
   */
  show(
    sides: readonly Side[],
    groups: Groups | undefined,
    chosenGroup: string | undefined,
    found: ReadonlySet<Box> | undefined,
  ): void {
    const [first, second] = sides;
    if (first === undefined) {
      return;
    }
    this.live.element.hidden = second !== undefined;
    this.changes.element.hidden = second === undefined;
    this.title.replaceChildren(...(second === undefined ? titleOf(first) : changeTitle(first, second)));
    const isListed =
      (side: Side) =>
      ({ allocation, box }: LiveBuffer): boolean =>
        side.includes(allocation) && (found === undefined || (box !== undefined && found.has(box)));
    const listed = sides.map((side) => side.buffers.filter(isListed(side)));
    this.showListed(sides, listed, found !== undefined);
    this.changed = second === undefined ? [] : joinLive(listed[0] ?? [], listed[1] ?? []);
    const buffers = second === undefined ? (listed[0] ?? []) : this.changed;
    this.live.show(second === undefined ? buffers : []);
    this.changes.show(this.changed);
    this.groupList.replaceChildren(...groupRows(buffers, second !== undefined, groups, chosenGroup, this.chooseGroup));
  }

  /** Show how many of the bytes at the step are listed, unless it is all of them. */
  private showListed(sides: readonly Side[], listed: readonly (readonly LiveBuffer[])[], isSearch: boolean): void {
    const sums = listed.map((buffers) => formatBytes(buffers.reduce((sum, { bytes }) => sum + bytes, 0)));
    const hidesFixed = sides.some((side) => side.space.allocations.some((each) => !side.includes(each)));
    const what = isSearch ? "match the search" : "in temporaries";
    const rest = hidesFixed ? `; fixed allocations are not listed` : "";
    this.listed.textContent = `${sums.join(" → ")} ${what}${rest}`;
    this.listed.hidden = !isSearch && !hidesFixed;
  }

  select(box: Box | undefined): void {
    this.selected.hidden = box === undefined;
    this.selected.replaceChildren(...(box === undefined ? [] : facts(box)));
  }
}

function titleOf({ space, step, bytes, isAtPeak, instruction }: Side): (HTMLElement | string)[] {
  const at = ` ${isAtPeak ? "at the peak, " : "at "}step ${formatCount(step)}`;
  return [
    element("span", { class: "total" }, formatBytes(bytes)),
    space.curve === undefined ? " allocated" : `${at}${instruction === undefined ? "" : ` · ${instruction}`}`,
  ];
}

function changeTitle(before: Side, after: Side): (HTMLElement | string)[] {
  const isKnown = before.space.curve !== undefined && after.space.curve !== undefined;
  const steps = `steps ${formatCount(before.step)} → ${formatCount(after.step)}`;
  const isPeak = before.isAtPeak && after.isAtPeak;
  return [
    element("span", { class: "total" }, formatChange(after.bytes - before.bytes)),
    ` ${formatBytes(before.bytes)} → ${formatBytes(after.bytes)}`,
    isKnown ? ` ${isPeak ? "at the peaks, " : "at "}${steps}` : " allocated",
  ];
}
