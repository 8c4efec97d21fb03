/**
 * Where each RNIC's tile stands: racks in a grid, hosts in a grid inside their rack, tiles in rows inside their host.
 * Pure: rows and a viewport in, world coordinates out (one world unit is one CSS pixel at scale 1).
 */
export interface Identity {
  host: readonly string[];
  rack: readonly (string | null)[];
  pci: readonly string[];
}

export interface Box {
  name: string;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Range of tiles [from, to) in layout order. */
  from: number;
  to: number;
}

export interface RackBox extends Box {
  hosts: Box[];
}

export interface Metrics {
  tileWidth: number;
  tileHeight: number;
  gap: number;
  hostLabel: number;
  hostPad: number;
  rackLabel: number;
  rackPad: number;
  rackGap: number;
}

export interface FleetLayout {
  metrics: Metrics;
  racks: RackBox[];
  /** Row of the columns at each place in layout order. */
  order: Int32Array;
  x: Float32Array;
  y: Float32Array;
  width: number;
  height: number;
}

const LARGE: Metrics = {
  tileWidth: 150,
  tileHeight: 64,
  gap: 8,
  hostLabel: 20,
  hostPad: 6,
  rackLabel: 30,
  rackPad: 12,
  rackGap: 18,
};
const COMPACT: Metrics = {
  tileWidth: 34,
  tileHeight: 24,
  gap: 4,
  hostLabel: 11,
  hostPad: 3,
  rackLabel: 30,
  rackPad: 10,
  rackGap: 16,
};

/** Thousands at once: tall tiles close together, and rack labels so large that they can still be read from afar. */
const DENSE: Metrics = {
  tileWidth: 34,
  tileHeight: 34,
  gap: 3,
  hostLabel: 10,
  hostPad: 2,
  rackLabel: 92,
  rackPad: 10,
  rackGap: 22,
};

/** Up to this many tiles are readable with their labels on one screen. */
export const LARGE_FLEET = 200;
const DENSE_FLEET = 3_000;

function metricsFor(count: number): Metrics {
  if (count <= LARGE_FLEET) return LARGE;
  return count <= DENSE_FLEET ? COMPACT : DENSE;
}

/** Up to six in a row, more in two rows, so that a host of five does not leave a row nearly empty. */
function tilesPerRow(largestHost: number): number {
  return largestHost <= 6 ? largestHost : Math.ceil(largestHost / 2);
}

export const NO_RACK = "no rack";

/** How the rows are put together; without it by rack and name. */
export interface Arrangement {
  /** Of each row the name of its group; null where it is unknown, which stands last under `missing`. */
  groups: readonly (string | null)[];
  missing: string;
  /** The sick rows, when groups and hosts with most of them come first. */
  sick?: ReadonlySet<number>;
}

const byName = new Intl.Collator("en", { numeric: true }).compare;

interface HostGroup {
  name: string;
  rows: number[];
}

function count(rows: readonly number[], sick: ReadonlySet<number> | undefined): number {
  return sick === undefined ? 0 : rows.reduce((sum, row) => sum + (sick.has(row) ? 1 : 0), 0);
}

function group(
  identity: Identity,
  rows: readonly number[],
  { groups, missing, sick }: Arrangement,
): [string, HostGroup[]][] {
  const racks = new Map<string, Map<string, number[]>>();
  for (const row of rows) {
    const rack = groups[row] || missing;
    const host = identity.host[row] ?? "";
    let hosts = racks.get(rack);
    if (!hosts) racks.set(rack, (hosts = new Map()));
    const members = hosts.get(host);
    if (members) members.push(row);
    else hosts.set(host, [row]);
  }
  const ordered = [...racks].map(([name, hosts]) => ({ name, hosts, ill: count([...hosts.values()].flat(), sick) }));
  const isLast = (name: string) => Number(name === missing);
  ordered.sort((a, b) => b.ill - a.ill || isLast(a.name) - isLast(b.name) || byName(a.name, b.name));
  return ordered.map(({ name, hosts: members }) => {
    const ill = new Map([...members].map(([host, of]) => [host, count(of, sick)]));
    const hosts = [...members];
    hosts.sort((a, b) => (ill.get(b[0]) ?? 0) - (ill.get(a[0]) ?? 0) || byName(a[0], b[0]));
    return [
      name,
      hosts.map(([host, members]) => ({
        name: host,
        rows: members.sort((a, b) => ((identity.pci[a] ?? "") < (identity.pci[b] ?? "") ? -1 : 1)),
      })),
    ];
  });
}

function size(count: number, each: number, gap: number): number {
  return count * each + Math.max(0, count - 1) * gap;
}

/** Racks per row such that the whole fleet shows as large as the viewport allows. */
function bestColumns(rackWidth: number, heights: number[], gap: number, aspect: number): number {
  let best = 1;
  let bestScale = 0;
  for (let columns = 1; columns <= heights.length; columns++) {
    let height = 0;
    for (let i = 0; i < heights.length; i += columns) height += Math.max(...heights.slice(i, i + columns)) + gap;
    const scale = Math.min(aspect / size(columns, rackWidth, gap), 1 / height);
    if (scale > bestScale) {
      bestScale = scale;
      best = columns;
    }
  }
  return best;
}

/** A tile may become so much taller than usual to fill the viewport: beyond that its words would be lost in it. */
const TALLEST = 1.6;

/** The height of tiles with which a fleet that is as wide as the viewport is as high, too. */
function filledHeight(metrics: Metrics, tileRows: number, width: number, height: number, aspect: number): number {
  const spare = width / aspect - height;
  return Math.min(TALLEST * metrics.tileHeight, metrics.tileHeight + Math.max(0, spare / Math.max(1, tileRows)));
}

export function layoutFleet(
  identity: Identity,
  rows: readonly number[],
  aspect: number,
  arrangement: Arrangement = { groups: identity.rack, missing: NO_RACK },
): FleetLayout {
  const usual = metricsFor(rows.length);
  const groups = group(identity, rows, arrangement);
  const largestHost = groups.reduce((most, [, hosts]) => hosts.reduce((m, h) => Math.max(m, h.rows.length), most), 1);
  const perRow = tilesPerRow(largestHost);
  const hostRows = Math.ceil(largestHost / perRow);
  const hostWidth = size(perRow, usual.tileWidth, usual.gap) + 2 * usual.hostPad;
  const heightOfHost = (tileHeight: number) =>
    size(hostRows, tileHeight, usual.gap) + usual.hostLabel + 2 * usual.hostPad;
  const mostHosts = groups.reduce((most, [, hosts]) => Math.max(most, hosts.length), 1);
  const hostColumns =
    usual === LARGE
      ? groups.length === 1
        ? Math.min(2, mostHosts)
        : 1
      : Math.max(1, Math.round(Math.sqrt((mostHosts * heightOfHost(usual.tileHeight)) / hostWidth)));
  const rackWidth = size(hostColumns, hostWidth, usual.gap) + 2 * usual.rackPad;
  const rowsOfHosts = groups.map(([, hosts]) => Math.ceil(hosts.length / hostColumns));
  const heightsWith = (tileHeight: number) =>
    rowsOfHosts.map((count) => size(count, heightOfHost(tileHeight), usual.gap) + usual.rackLabel + usual.rackPad);
  const columns = bestColumns(rackWidth, heightsWith(usual.tileHeight), usual.rackGap, aspect);
  const width = size(Math.min(columns, Math.max(1, groups.length)), rackWidth, usual.rackGap);
  /** The highest rack of each row of racks, one below the other. */
  const stacked = (values: readonly number[], gap: number) => {
    let sum = 0;
    for (let i = 0; i < values.length; i += columns)
      sum += Math.max(...values.slice(i, i + columns)) + (i > 0 ? gap : 0);
    return sum;
  };
  const metrics =
    usual === LARGE
      ? {
          ...usual,
          tileHeight: filledHeight(
            usual,
            stacked(rowsOfHosts, 0) * hostRows,
            width,
            stacked(heightsWith(usual.tileHeight), usual.rackGap),
            aspect,
          ),
        }
      : usual;
  const hostHeight = heightOfHost(metrics.tileHeight);
  const heights = heightsWith(metrics.tileHeight);

  const order = new Int32Array(rows.length);
  const x = new Float32Array(rows.length);
  const y = new Float32Array(rows.length);
  const racks: RackBox[] = [];
  let tile = 0;
  let top = 0;
  let rowHeight = 0;
  groups.forEach(([name, hosts], i) => {
    if (i > 0 && i % columns === 0) {
      top += rowHeight + metrics.rackGap;
      rowHeight = 0;
    }
    const left = (i % columns) * (rackWidth + metrics.rackGap);
    const height = heights[i] ?? 0;
    rowHeight = Math.max(rowHeight, height);
    const rack: RackBox = { name, x: left, y: top, width: rackWidth, height, from: tile, to: tile, hosts: [] };
    hosts.forEach((host, h) => {
      const hx = left + metrics.rackPad + (h % hostColumns) * (hostWidth + metrics.gap);
      const hy = top + metrics.rackLabel + Math.floor(h / hostColumns) * (hostHeight + metrics.gap);
      const from = tile;
      host.rows.forEach((row, t) => {
        order[tile] = row;
        x[tile] = hx + metrics.hostPad + (t % perRow) * (metrics.tileWidth + metrics.gap);
        y[tile] =
          hy + metrics.hostLabel + metrics.hostPad + Math.floor(t / perRow) * (metrics.tileHeight + metrics.gap);
        tile++;
      });
      rack.hosts.push({ name: host.name, x: hx, y: hy, width: hostWidth, height: hostHeight, from, to: tile });
    });
    rack.to = tile;
    racks.push(rack);
  });
  return { metrics, racks, order, x, y, width: groups.length ? width : 0, height: top + rowHeight };
}
