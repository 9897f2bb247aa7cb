import { joinPath } from "../source.js";
import { type Found, gather, nothing } from "./found.js";
import { accept, type Place } from "./place.js";

/** Every file below, named by its path, as it is: seeds keep their tests and dotfiles. */
export function collectAssets(place: Place, folder: string, prefix: string): Found {
  return gather(
    place.source.list(folder).map((child) => {
      const file = joinPath(folder, child.name);
      if (child.name === ".DS_Store") return nothing;
      const name = prefix + child.name;
      return child.type === "folder" ? collectAssets(place, file, `${name}/`) : accept(place, child, name, file);
    }),
  );
}
