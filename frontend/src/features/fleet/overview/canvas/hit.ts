import type { Box, FleetLayout } from "./layout";

function inside(box: Box, x: number, y: number): boolean {
  return x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
}

/** The tile at a point of the world, as its place in layout order; -1 where there is none (gaps and labels included). */
export function tileAt(layout: FleetLayout, x: number, y: number): number {
  const { tileWidth, tileHeight } = layout.metrics;
  for (const rack of layout.racks) {
    if (!inside(rack, x, y)) continue;
    for (const host of rack.hosts) {
      if (!inside(host, x, y)) continue;
      for (let i = host.from; i < host.to; i++) {
        const dx = x - (layout.x[i] ?? 0);
        const dy = y - (layout.y[i] ?? 0);
        if (dx >= 0 && dx < tileWidth && dy >= 0 && dy < tileHeight) return i;
      }
    }
  }
  return -1;
}

export type Move = "left" | "right" | "up" | "down";

/**
 * The next tile for an arrow key: left and right follow the layout order, up and down go to the nearest tile of the
 * next line of tiles, by distance with the vertical way weighted less than the sideways one.
 */
export function neighbour(layout: FleetLayout, from: number, move: Move): number {
  const count = layout.order.length;
  if (count === 0) return -1;
  if (from < 0) return 0;
  if (move === "left") return Math.max(0, from - 1);
  if (move === "right") return Math.min(count - 1, from + 1);
  const x = layout.x[from] ?? 0;
  const y = layout.y[from] ?? 0;
  let best = from;
  let bestCost = Infinity;
  for (let i = 0; i < count; i++) {
    const dy = ((layout.y[i] ?? 0) - y) * (move === "down" ? 1 : -1);
    if (dy <= 0) continue;
    const cost = dy + 3 * Math.abs((layout.x[i] ?? 0) - x);
    if (cost < bestCost) {
      bestCost = cost;
      best = i;
    }
  }
  return best;
}
