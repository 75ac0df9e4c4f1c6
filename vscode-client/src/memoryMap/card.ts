/** The hover card of a box: the hover of the editor, or the facts of the map without an editor. */

import { element } from "./dom";
import { countNoun, formatBytes, formatCount, shortLine } from "./format";
import type { FileLine, Host } from "./host";
import { isAtPeak, sideOfMatch } from "./comparison";
import type { Band, Box, Grouping } from "./model";
import { isUnused, type Owner } from "./owners";

const EDITOR_DELAY_MILLISECONDS = 150;
const DISTANCE = 14; // pixels between the pointer and the card

export class HoverCard {
  readonly element = element("div", { class: "card", role: "tooltip", hidden: "" });
  private readonly note = element("p", { class: "note" });
  private box: Box | Band | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** @param content the part of the page over which the card may lie */
  constructor(
    private readonly host: Host,
    private readonly content: HTMLElement,
  ) {}

  show(box: Box, owner: Owner | undefined, places: readonly FileLine[], event: PointerEvent): void {
    if (this.box !== box) {
      this.box = box;
      this.element.replaceChildren(...facts(box), this.note);
      this.element.hidden = false;
      this.requestHover(box, places[0]);
    }
    this.note.textContent = noteOn(owner);
    this.note.hidden = this.note.textContent === "";
    this.place(event);
  }

  showBand(band: Band, event: PointerEvent): void {
    if (this.box !== band) {
      clearTimeout(this.timer);
      this.box = band;
      const { start, end } = band;
      const steps = start === end ? `step ${formatCount(start)}` : `steps ${formatCount(start)}–${formatCount(end)}`;
      this.element.replaceChildren(element("strong", {}, band.label), element("p", {}, steps));
      this.element.hidden = false;
    }
    this.place(event);
  }

  hide(): void {
    clearTimeout(this.timer);
    this.box = undefined;
    this.element.hidden = true;
  }

  /** Replace the facts by the hover of the editor when it is there; it knows nothing of a comparison. */
  private requestHover(box: Box, place: FileLine | undefined): void {
    clearTimeout(this.timer);
    if (place === undefined || !this.host.isEditor || box.change !== undefined) {
      return;
    }
    this.timer = setTimeout(() => {
      void this.host.hover(place, box.instruction).then((html) => {
        if (html !== undefined && this.box === box) {
          const content = element("div", { class: "editor-hover" });
          content.innerHTML = html;
          this.element.replaceChildren(content, this.note);
        }
      });
    }, EDITOR_DELAY_MILLISECONDS);
  }

  private place({ clientX, clientY }: PointerEvent): void {
    const { offsetWidth, offsetHeight } = this.element;
    const { right, bottom } = this.content.getBoundingClientRect();
    const left = clientX + DISTANCE + offsetWidth > right ? clientX - DISTANCE - offsetWidth : clientX + DISTANCE;
    const top = Math.min(clientY + DISTANCE, bottom - offsetHeight - 4);
    this.element.style.left = `${Math.max(4, left)}px`;
    this.element.style.top = `${Math.max(4, top)}px`;
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

/** Return the facts about a box that the data contains. */
export function facts(box: Box): HTMLElement[] {
  const { allocation, module } = box;
  const space = module.spaceOf(box);
  const group = (grouping: Grouping): string => module.group(box, grouping);
  const isPeakKnown = space?.curve !== undefined;
  const atPeak = isPeakKnown ? `, ${isAtPeak(box, space) ? "" : "not "}at the peak` : "";
  const summary = [
    `${formatBytes(box.size)} in ${space?.name ?? ""}`,
    allocation.isFixed ? wholeProgram(box) : `${liveRange(box)}${atPeak}`,
    shortLine(group("line")),
  ];
  const rows: (readonly [string, string])[] = [
    ["change", group("change")],
    [sideOfMatch(box), box.match === undefined ? "" : matchText(box.match)],
    ["instruction", box.label === box.name ? "" : box.name],
    ["data of", box.label === box.argument ? "" : box.argument],
    ["inside", module.bandOf(box)?.label ?? ""],
    ["shape", box.shape],
    ["padding", box.padding > 0 ? formatBytes(box.padding) : ""],
    ["scope", group("scope")],
    ["origin", group("opcode")],
    ["role", group("role")],
    ["allocation", `${formatCount(allocation.number)}, ${allocation.kind}, offset ${formatCount(box.offset)}`],
    ["donation", box.label === box.argument ? allocation.donation : ""],
  ];
  const list = element("dl");
  for (const [label, text] of rows) {
    if (text !== "") {
      list.append(element("dt", {}, label), element("dd", {}, text));
    }
  }
  return [element("strong", {}, box.label), element("p", {}, summary.join(" · ")), list];
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
