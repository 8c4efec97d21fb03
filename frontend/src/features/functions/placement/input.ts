import type { NfCard, PlacementRequest } from "@/lib/api/types";
import { DEFAULT_PACKET_BYTES } from "../scenario";

type Functions = PlacementRequest["functions"];
type Cards = PlacementRequest["cards"];

export const COLUMNS = ["name", "function", "flows", "packet_bytes", "mtbr", "count", "sla_drop", "card"] as const;
export const HEADER = COLUMNS.join(", ");

export class InputProblem extends Error {}

function amount(line: number, name: string, value: string, low: number, high: number): number {
  const given = Number(value);
  if (value === "" || !Number.isFinite(given) || given < low || given > high)
    throw new InputProblem(`Line ${line}: ${name} must be a number from ${low} to ${high}, not “${value}”.`);
  return given;
}

/** Lines of comma-separated values; a header may name the columns in another order, and the last columns may be missing. */
export function parseFunctions(text: string): Functions {
  let columns: readonly string[] = COLUMNS;
  const functions: Functions = [];
  for (const [at, line] of text.split("\n").entries()) {
    const cells = line.split(/[,;\t]/).map((cell) => cell.trim());
    if (cells.every((cell) => cell === "")) continue;
    if (functions.length === 0 && cells.includes("function") && cells.includes("name")) {
      const unknown = cells.find((cell) => !(COLUMNS as readonly string[]).includes(cell));
      if (unknown !== undefined) throw new InputProblem(`Unknown column “${unknown}”; known are ${HEADER}.`);
      columns = cells;
      continue;
    }
    if (cells.length > columns.length)
      throw new InputProblem(
        `Line ${at + 1} has ${cells.length} values for ${columns.length} columns: ${columns.join(", ")}.`,
      );
    functions.push(functionOf(at + 1, (name) => cells[columns.indexOf(name)] ?? ""));
  }
  if (functions.length === 0) throw new InputProblem("Give at least one function.");
  return functions;
}

function functionOf(line: number, cell: (name: string) => string): Functions[number] {
  const name = cell("name");
  const fn = cell("function");
  if (name === "" || fn === "") throw new InputProblem(`Line ${line}: name and function are required.`);
  const optional = (column: string, low: number, high: number, otherwise: number) =>
    cell(column) === "" ? otherwise : amount(line, column, cell(column), low, high);
  return {
    name,
    function: fn,
    flows: amount(line, "flows", cell("flows"), 1, 1e9),
    packet_bytes: optional("packet_bytes", 60, 9600, DEFAULT_PACKET_BYTES),
    mtbr: optional("mtbr", 0, 1e5, 0),
    count: optional("count", 1, 1000, 1),
    cores: null,
    sla_drop: cell("sla_drop") === "" ? null : amount(line, "sla_drop", cell("sla_drop"), 0.001, 0.99),
    card: cell("card") || null,
  };
}

/** One card per line: its name, and after a comma the Kubernetes node where that is not the first part of the name. */
export function parseCards(text: string, cores: number): Cards {
  const cards = text
    .split("\n")
    .map((line) => line.split(",").map((cell) => cell.trim()))
    .filter(([name]) => name)
    .map(([name = "", host]) => ({ name, host: host || null, cores }));
  if (cards.length === 0) throw new InputProblem("Give at least one card.");
  return cards;
}

/** What is measured, as lines to start from; functions whose flows are unknown are left out. */
export function linesOfCards(cards: readonly NfCard[]): { functions: string; cards: string } {
  const lines = cards.flatMap((card) =>
    card.functions
      .filter((each) => each.flows !== null)
      .map((each) =>
        [
          each.name,
          each.function,
          each.flows,
          Math.round(each.packet_bytes ?? DEFAULT_PACKET_BYTES),
          Number((each.mtbr ?? 0).toPrecision(4)),
          1,
          "",
          `${card.host} ${card.pci}`,
        ].join(", "),
      ),
  );
  return {
    functions: [HEADER, ...lines].join("\n"),
    cards: cards.map((card) => `${card.host} ${card.pci}, ${card.host}`).join("\n"),
  };
}
