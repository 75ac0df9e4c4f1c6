/** The keys of the map, without those of the page. */

import type { Viewport } from "./viewport";

const PAN = 0.1; // of the width or height
const ZOOM = 1.5;

/** Pan, zoom, or reset the map; return whether the key has such a meaning. */
export function applyKey(viewport: Viewport, { key, altKey, shiftKey }: KeyboardEvent): boolean {
  const scale = (factor: number): void => {
    viewport.scale(altKey ? 1 : factor, shiftKey && key !== "+" ? 1 : factor);
  };
  switch (key) {
    case "ArrowLeft":
      viewport.pan(PAN, 0);
      return true;
    case "ArrowRight":
      viewport.pan(-PAN, 0);
      return true;
    case "ArrowUp":
      viewport.pan(0, PAN);
      return true;
    case "ArrowDown":
      viewport.pan(0, -PAN);
      return true;
    case "+":
    case "=":
      scale(ZOOM);
      return true;
    case "-":
    case "_":
      scale(1 / ZOOM);
      return true;
    case "0":
    case "Home":
      viewport.reset();
      return true;
    default:
      return false;
  }
}
