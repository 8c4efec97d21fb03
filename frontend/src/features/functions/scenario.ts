import type { NfCard, NfModel, PredictionRequest, RunningFunction } from "@/lib/api/types";

/** One function of a card that somebody plans or measures. */
export interface Planned {
  name: string;
  function: string;
  flows: number;
  packetBytes: number;
  mtbr: number;
}

export const DEFAULT_PACKET_BYTES = 1518;
export const DEFAULT_CORES = 8;
export const MOST_RESIDENTS = 16;
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?$/;

/** What the page shows, as it stands in the URL; `on` is what runs, `add` what might be added. */
export interface FunctionsSearch {
  host?: string;
  pci?: string;
  model?: string;
  fw?: string;
  cores?: number;
  on?: string;
  add?: string;
  show?: string;
}

function text(value: unknown, most = 4000): string | undefined {
  return typeof value === "string" && value.trim() && value.length <= most ? value.trim() : undefined;
}

export function parseFunctionsSearch(search: Record<string, unknown>): FunctionsSearch {
  const cores = Number(search["cores"]);
  const parsed: FunctionsSearch = {
    host: text(search["host"]),
    pci: text(search["pci"]),
    model: text(search["model"], 50),
    fw: text(search["fw"], 100),
    cores: Number.isInteger(cores) && cores >= 1 && cores <= 64 ? cores : undefined,
    on: text(search["on"]),
    add: text(search["add"]),
    show: text(search["show"], 300),
  };
  return Object.fromEntries(Object.entries(parsed).filter(([, value]) => value !== undefined));
}

function number(value: string | undefined, low: number, high: number, otherwise: number): number {
  const given = Number(value);
  return value !== undefined && value !== "" && Number.isFinite(given) && given >= low && given <= high
    ? given
    : otherwise;
}

/** `name~function~flows~bytes~matches`, by commas: short enough for a link that reproduces a card. */
export function parsePlanned(on: string | undefined): Planned[] {
  const planned: Planned[] = [];
  for (const part of (on ?? "").split(",").slice(0, MOST_RESIDENTS)) {
    const [name = "", fn = "", flows, packetBytes, mtbr] = part.split("~");
    if (!NAME.test(name) || !NAME.test(fn) || planned.some((each) => each.name === name)) continue;
    planned.push({
      name,
      function: fn,
      flows: number(flows, 1, 1e9, 1000),
      packetBytes: number(packetBytes, 60, 9600, DEFAULT_PACKET_BYTES),
      mtbr: number(mtbr, 0, 1e5, 0),
    });
  }
  return planned;
}

export function plannedText(planned: readonly Planned[]): string | undefined {
  return planned.length === 0
    ? undefined
    : planned
        .map((each) =>
          [each.name, each.function, each.flows, each.packetBytes, each.mtbr]
            .map((value) => (typeof value === "number" ? Number(value.toPrecision(6)) : value))
            .join("~"),
        )
        .join(",");
}

/** What a measured card has, as a plan to start from; a function whose flows are unknown cannot be predicted. */
export function plannedOfCard(card: NfCard, known: ReadonlySet<string>): Planned[] {
  return card.functions
    .filter((each) => each.flows !== null && known.has(each.function))
    .map((each) => ({
      name: each.name,
      function: each.function,
      flows: each.flows ?? 1,
      packetBytes: each.packet_bytes ?? DEFAULT_PACKET_BYTES,
      mtbr: each.mtbr ?? 0,
    }));
}

/** Why measured functions are not predicted; each still counts as load where its counters are measured. */
export function unpredicted(card: NfCard, known: ReadonlySet<string>): string[] {
  return card.functions
    .filter((each) => each.flows === null || !known.has(each.function))
    .map((each) => {
      const why = known.has(each.function)
        ? "its number of flows is unknown"
        : `no active model of ${each.function} for this card`;
      return `${each.name}: ${why}${each.counters ? "" : ", and its load on the others is unknown"}`;
    });
}

/** A name that is not taken yet: `ids`, then `ids-2`. */
export function freeName(wanted: string, planned: readonly Planned[]): string {
  const taken = new Set(planned.map(({ name }) => name));
  if (!taken.has(wanted)) return wanted;
  for (let count = 2; ; count++) if (!taken.has(`${wanted}-${count}`)) return `${wanted}-${count}`;
}

interface CardOptions {
  model: string;
  fw: string;
  cores: number;
}

/** The question to the API; measured counters and throughput count only while the traffic is the measured one. */
export function requestOf(
  { model, fw, cores }: CardOptions,
  planned: readonly Planned[],
  candidate: Planned | null,
  measured: readonly RunningFunction[] = [],
  loads: readonly RunningFunction[] = [],
): PredictionRequest {
  const resident = (each: Planned) => {
    const now = measured.find((running) => running.name === each.name && isMeasured(running, each));
    return {
      name: each.name,
      function: each.function,
      flows: each.flows,
      packet_bytes: each.packetBytes,
      mtbr: each.mtbr,
      counters: now?.counters ?? null,
      cores: null,
      sla_drop: null,
      measured_kpps: now?.throughput_kpps ?? null,
      offered_kpps: now?.offered_kpps ?? null,
    };
  };
  return {
    nic_model: model,
    firmware: fw,
    cores,
    residents: [...planned.map(resident), ...loads.map(loadOf)],
    candidate: candidate && resident({ ...candidate, name: freeName(candidate.name, planned) }),
  };
}

/** A function without a model takes from the others what its counters say. */
function loadOf(running: RunningFunction): PredictionRequest["residents"][number] {
  return {
    name: running.name,
    function: null,
    flows: Math.max(running.flows ?? 1, 1),
    packet_bytes: DEFAULT_PACKET_BYTES,
    mtbr: 0,
    counters: running.counters,
    cores: running.cores === null ? null : Math.max(1, Math.round(running.cores)),
    sla_drop: null,
    measured_kpps: null,
    offered_kpps: null,
  };
}

/** Of a measured card, what is load only. */
export function loadsOf(card: NfCard, known: ReadonlySet<string>): RunningFunction[] {
  return card.functions.filter((each) => each.counters !== null && (each.flows === null || !known.has(each.function)));
}

function isMeasured(running: RunningFunction, planned: Planned): boolean {
  return (
    running.function === planned.function &&
    running.flows === planned.flows &&
    (running.packet_bytes ?? DEFAULT_PACKET_BYTES) === planned.packetBytes &&
    (running.mtbr ?? 0) === planned.mtbr
  );
}

/** Functions with an active model for a card model, of this firmware or of all. */
export function modelsFor(models: readonly NfModel[], model: string, fw: string): NfModel[] {
  const fitting = models.filter(
    (each) => each.nic_model === model && each.active !== null && (each.firmware === fw || each.firmware === ""),
  );
  return fitting.filter(
    (each) =>
      each.firmware !== "" || !fitting.some((other) => other.function === each.function && other.firmware !== ""),
  );
}

export interface Range {
  low: number;
  high: number;
}

/** Where the active version was trained; undefined where there is none. */
export function trainedRange(models: readonly NfModel[], fn: string, name: string): Range | undefined {
  const model = models.find((each) => each.function === fn);
  return model?.versions.find((version) => version.state === "active")?.ranges.find((range) => range.name === name);
}
