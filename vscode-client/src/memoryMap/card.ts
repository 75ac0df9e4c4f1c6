/** The hover card of a box: what it is, its size and steps, for what it is kept, and its Python line. */

import { element } from "./dom";
import { countNoun, formatBytes, formatCount, shortLine } from "./format";
import { isAtPeak, sideOfMatch } from "./comparison";
import type { Allocation, Band, Box } from "./model";
import { isUnused, type Owner } from "./owners";

const DISTANCE = 14; // pixels between the pointer and the card
const MARGIN = 4; // pixels around the card

export class HoverCard {
  readonly element = element("div", { class: "card", role: "tooltip", hidden: "" });
  private readonly note = element("p", { class: "note" });
  private box: Box | Band | undefined;

  /** @param content the part of the page over which the card may lie */
  constructor(private readonly content: HTMLElement) {}

  show(box: Box, owner: Owner | undefined, event: PointerEvent): void {
    if (this.box !== box) {
      this.box = box;
      this.element.replaceChildren(...headOf(box), listOf(mainRows(box)), this.note);
      this.element.hidden = false;
    }
    this.note.textContent = noteOn(owner);
    this.note.hidden = this.note.textContent === "";
    this.place(event);
  }

  showBand(band: Band, event: PointerEvent): void {
    if (this.box !== band) {
      this.box = band;
      const { start, end } = band;
      const steps = start === end ? `step ${formatCount(start)}` : `steps ${formatCount(start)}–${formatCount(end)}`;
      this.element.replaceChildren(element("strong", {}, band.label), element("p", {}, steps));
      this.element.hidden = false;
    }
    this.place(event);
  }

  hide(): void {
    this.box = undefined;
    this.element.hidden = true;
  }

  private place({ clientX, clientY }: PointerEvent): void {
    const content = this.content.getBoundingClientRect();
    const { left, right } = content;
    const [top, bottom] = [Math.max(0, content.top), Math.min(window.innerHeight, content.bottom)];
    this.element.style.maxWidth = `min(420px, ${right - left - 2 * MARGIN}px)`;
    this.element.style.maxHeight = `${bottom - top - 2 * MARGIN}px`;
    const { offsetWidth, offsetHeight } = this.element;
    const isBeside = clientX + DISTANCE + offsetWidth <= right;
    const start = isBeside ? clientX + DISTANCE : clientX - DISTANCE - offsetWidth;
    const within = (at: number, first: number, last: number): string => `${Math.max(first + MARGIN, Math.min(at, last - MARGIN))}px`;
    this.element.style.left = within(start, left, right - offsetWidth);
    this.element.style.top = within(clientY + DISTANCE, top, bottom - offsetHeight);
  }
}

/** Return what else is at a pixel that shows the color of its owner. */
function noteOn(owner: Owner | undefined): string {
  if (owner === undefined) {
    return "";
  }
  if (isUnused(owner.piece)) {
    return "Here its bytes are occupied, but no value in them is live.";
  }
  const others = owner.boxCount - 1;
  const share = `${Math.round(100 * owner.share)}%`;
  return others > 0 ? `This point has ${countNoun(others, "more buffer")}; ${share} of its bytes have this color.` : "";
}

/** Return all facts about a box that the data contains. */
export function facts(box: Box): HTMLElement[] {
  const { allocation, module } = box;
  const isArgument = box.label === box.argument;
  const rows: (readonly [string, string])[] = [
    ...mainRows(box),
    ["instruction", box.label === box.name ? "" : box.name],
    ["data of", box.label === box.argument ? "" : box.argument],
    ["inside", module.bandOf(box)?.label ?? ""],
    ["shape", box.shape],
    ["padding", box.padding > 0 ? formatBytes(box.padding) : ""],
    ["scope", module.group(box, "scope")],
    ["origin", module.group(box, "opcode")],
    ["role", module.group(box, "role")],
    ["allocation", `${formatCount(allocation.number)}, ${allocation.kind}, offset ${formatCount(box.offset)}`],
    ["donation", isArgument ? allocation.donation : ""],
    ["global shape", isArgument ? (allocation.whole?.text ?? "") : ""],
  ];
  return [...headOf(box), listOf(rows), ...(isArgument ? devicesOf(allocation) : [])];
}

/** Return which device has which part of the array, as a table in the order of the parts. */
function devicesOf({ whole }: Allocation): HTMLElement[] {
  const { titles, rows } = whole ?? { titles: [], rows: [] };
  if (rows.length === 0) {
    return [];
  }
  const cells = (kind: "th" | "td", texts: readonly string[]) => element("tr", {}, ...texts.map((text) => element(kind, {}, text)));
  return [element("table", { class: "devices" }, cells("th", titles), ...rows.map((row) => cells("td", row)))];
}

/** Return the name of a box, its size, its steps, and its Python line. */
function headOf(box: Box): HTMLElement[] {
  const { allocation, module } = box;
  const space = module.spaceOf(box);
  const isPeakKnown = space?.curve !== undefined;
  const atPeak = isPeakKnown ? `, ${isAtPeak(box, space) ? "" : "not "}at the peak` : "";
  const summary = [
    `${formatBytes(box.size)} in ${space?.name ?? ""}`,
    allocation.isFixed ? wholeProgram(box) : `${liveRange(box)}${atPeak}`,
    shortLine(module.group(box, "line")),
  ];
  return [element("strong", {}, box.label), element("p", {}, summary.join(" · "))];
}

/** Return how a box differs from that of the other module, and for what it is kept. */
function mainRows(box: Box): (readonly [string, string])[] {
  return [
    ["change", box.module.group(box, "change")],
    [sideOfMatch(box), box.match === undefined ? "" : matchText(box.match)],
    ["kept for", box.module.reasonFor(box)],
  ];
}

function listOf(rows: readonly (readonly [string, string])[]): HTMLElement {
  const shown = rows.filter(([, text]) => text !== "");
  return element("dl", {}, ...shown.flatMap(([label, text]) => [element("dt", {}, label), element("dd", {}, text)]));
}

/** Return when the data of a box in a fixed allocation is used, in the words of hovers. */
function wholeProgram(box: Box): string {
  const { start, end, allocation, module } = box;
  const isKept = end === module.lastStep;
  const isInput = allocation.kind === "constant" || (allocation.kind === "parameter" && start === 0);
  if (start < 0 || (isInput && isKept)) {
    return "whole program";
  }
  if (isInput) {
    return `whole program, last read at step ${formatCount(end)}`;
  }
  return isKept ? `whole program, written at step ${formatCount(start)}` : `whole program, for data of ${liveRange(box)}`;
}

function liveRange({ start, end }: Box): string {
  return start < 0 ? "live range unknown" : `steps ${formatCount(start)}–${formatCount(end)}`;
}

/** Return where a box of the other module is, which has the same name in many cases. */
function matchText(box: Box): string {
  const space = box.module.spaceOf(box)?.name ?? "";
  return `${box.name} · ${formatBytes(box.size)} in ${space} · ${liveRange(box)}`;
}
