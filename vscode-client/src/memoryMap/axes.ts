/** The axes of the map: bytes, steps, and the bytes of the curve. */

import { axisBottom, axisLeft, type Axis } from "d3-axis";
import { select } from "d3-selection";
import type { Scale } from "./drawing";
import { byteLabels, byteTicks, formatCount, formatTime } from "./format";
import type { Viewport } from "./viewport";

const BYTES_SPACING = 44; // pixels between two labels, approximately
const STEPS_SPACING = 110;
const TITLE_OFFSET = 34; // pixels from the map to the base line of the title

export class Axes {
  private readonly svg = select(document.createElementNS("http://www.w3.org/2000/svg", "svg"));

  constructor(root: HTMLElement) {
    this.svg.attr("class", "axes").attr("aria-hidden", "true");
    for (const name of ["bytes", "curve-bytes", "steps"]) {
      this.svg.append("g").attr("class", name);
    }
    this.svg.append("text").attr("class", "title").attr("text-anchor", "end");
    this.svg.append("text").attr("class", "times").attr("text-anchor", "end");
    root.append(this.svg.node() ?? "");
  }

  resize(width: number, height: number): void {
    this.svg.attr("width", width).attr("height", height);
  }

  draw(viewport: Viewport, x: Scale, y: Scale): void {
    const { curve, times, map } = viewport.areas();
    const [low = 0, high = 1] = y.domain();
    const bytes = byteAxis(y, byteTicks(low, high, map.height / BYTES_SPACING));
    this.svg.select<SVGGElement>(".bytes").attr("transform", `translate(${map.x},${map.y})`).call(bytes);
    const count = Math.max(2, map.width / STEPS_SPACING);
    const [first = 0, second = 1] = x.ticks(count);
    const { frame } = viewport;
    const showsTime = frame.showsTime && frame.hasTimes;
    const steps = axisBottom<number>(x)
      .ticks(count)
      .tickFormat((at) => (showsTime ? formatTime(at, second - first) : Number.isInteger(at) ? formatCount(at) : ""))
      .tickSizeOuter(0);
    const title = showsTime ? (viewport.module?.timedSteps?.data.title ?? "") : "steps";
    this.svg
      .select(".title")
      .attr("transform", `translate(${map.x + map.width},${map.y + map.height + TITLE_OFFSET})`)
      .text(frame.hasTimes ? title : "");
    this.svg
      .select(".times")
      .attr("transform", `translate(${times.x - 9},${times.y + times.height - 3})`)
      .text(frame.hasTimes ? "time" : "");
    this.svg
      .select<SVGGElement>(".steps")
      .attr("transform", `translate(${map.x},${map.y + map.height})`)
      .call(steps);
    const curveScale = viewport.curveY();
    const [least = 0, most = 0] = curveScale.domain();
    const curveBytes = byteAxis(curveScale, most > least && viewport.frame.hasCurve ? byteTicks(least, most, 4) : []);
    this.svg
      .select<SVGGElement>(".curve-bytes")
      .attr("transform", `translate(${curve.x},${curve.y})`)
      .call(curveBytes);
  }
}

function byteAxis(scale: Scale, ticks: readonly number[]): Axis<number> {
  const labels = byteLabels(ticks);
  return axisLeft<number>(scale)
    .tickValues(ticks)
    .tickFormat((_, index) => labels[index] ?? "")
    .tickSizeOuter(0);
}
