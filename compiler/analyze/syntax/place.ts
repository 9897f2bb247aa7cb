import type { ts as Ts } from "ts-morph";
import type { Place } from "../facts.js";

export function placeOf(node: Ts.Node, source: Ts.SourceFile): Place {
  return placeBetween(node.getStart(source), node.end, source);
}

export function placeBetween(from: number, to: number, source: Ts.SourceFile): Place {
  const start = source.getLineAndCharacterOfPosition(from);
  const end = source.getLineAndCharacterOfPosition(to);
  return [start.line + 1, start.character + 1, end.line + 1, end.character + 1];
}
