/** Labels of the view *HLO Dumps*, short enough that the number after them is visible in a narrow side bar. */

const MAX_LABEL_LENGTH = 22;

/** Characters of a label that is indented by three levels. */
export const MAX_INDENTED_LENGTH = 17;

/** Return a text that is not longer than a label can be, with an ellipsis in the middle. */
export function shortened(text: string, length = MAX_LABEL_LENGTH): string {
  if (text.length <= length) {
    return text;
  }
  const end = Math.floor(length / 2);
  return `${text.slice(0, length - end - 1)}…${text.slice(-end)}`;
}

/**
 * Return labels for compiles of one function: the title, the folder, or both, whichever differs.
 *
 * Folders that contain all of the compiles are left out. The scheme and the host of a URL are one folder.
 */
export function distinguishing(compiles: readonly { folder: string; title: string }[]): string[] {
  const folders = compiles.map(({ folder }) => folder.split(/(?<!\/)\/(?!\/)/u).filter((name) => name !== "" && name !== "."));
  const [first = []] = folders;
  const differs = first.findIndex((name, index) => folders.some((folder) => folder[index] !== name));
  const common = differs < 0 ? first.length : differs;
  const own = folders.map((folder) => folder.slice(common).join("/"));
  const isUnique = new Set(own).size === own.length;
  return compiles.map(({ title }, index) => {
    const folder = own[index] ?? "";
    return folder === "" ? title : isUnique ? folder : `${folder}/${title}`;
  });
}
