import { describe, expect, it } from "vitest";
import { neighbour, tileAt } from "./hit";
import { type Identity, LARGE_FLEET, layoutFleet, NO_RACK } from "./layout";
import { fit, reveal, zoomAt } from "./view";

function fleet(racks: number, hostsPerRack: number, perHost: number): Identity {
  const identity = { host: [] as string[], rack: [] as string[], pci: [] as string[] };
  for (let r = 0; r < racks; r++)
    for (let h = 0; h < hostsPerRack; h++)
      for (let n = 0; n < perHost; n++) {
        identity.rack.push(`r${r + 1}`);
        identity.host.push(`host${r * hostsPerRack + h + 1}`);
        identity.pci.push(`0000:${(0x3b + n).toString(16)}:00.0`);
      }
  return identity;
}

const all = (identity: Identity) => identity.host.map((_, i) => i);
const small = fleet(2, 4, 4);
const layout = layoutFleet(small, all(small), 2);

describe("the fleet's layout", () => {
  it("places every RNIC exactly once, grouped by rack and host", () => {
    expect([...layout.order].sort((a, b) => a - b)).toEqual(all(small));
    expect(layout.racks.map((rack) => [rack.name, rack.hosts.length, rack.to - rack.from])).toEqual([
      ["r1", 4, 16],
      ["r2", 4, 16],
    ]);
    for (const rack of layout.racks)
      for (const host of rack.hosts)
        for (let i = host.from; i < host.to; i++) expect(small.host[layout.order[i] ?? -1]).toBe(host.name);
  });

  it("keeps every tile inside its host's box and the fleet's bounds", () => {
    const { tileWidth, tileHeight } = layout.metrics;
    for (const rack of layout.racks)
      for (const host of rack.hosts)
        for (let i = host.from; i < host.to; i++) {
          const x = layout.x[i] ?? NaN;
          const y = layout.y[i] ?? NaN;
          expect(x).toBeGreaterThanOrEqual(host.x);
          expect(x + tileWidth).toBeLessThanOrEqual(host.x + host.width);
          expect(y).toBeGreaterThanOrEqual(host.y);
          expect(y + tileHeight).toBeLessThanOrEqual(host.y + host.height);
          expect(x + tileWidth).toBeLessThanOrEqual(layout.width);
          expect(y + tileHeight).toBeLessThanOrEqual(layout.height);
        }
  });

  it("makes the tiles of a small fleet taller to fill the viewport, as far as their words bear it", () => {
    const { width, height, metrics } = layoutFleet(small, all(small), 2.4);
    expect(metrics.tileHeight).toBeGreaterThan(64);
    expect(height).toBeCloseTo(width / 2.4, 3);
    const square = layoutFleet(fleet(1, 1, 2), [0, 1], 1);
    expect(square.metrics.tileHeight).toBeLessThan(110);
    const flat = layoutFleet(small, all(small), 20);
    expect(flat.metrics.tileHeight).toBe(64);
  });

  it("sorts names by the numbers in them, so that host2 stands before host10", () => {
    const hosts: Identity = { host: ["host10", "host2"], rack: ["r1", "r1"], pci: ["0000:3b:00.0", "0000:3b:00.0"] };
    expect(layoutFleet(hosts, [0, 1], 1).racks[0]?.hosts.map((host) => host.name)).toEqual(["host2", "host10"]);
  });

  it("puts RNICs without a rack under one heading instead of dropping them", () => {
    const hosts: Identity = { host: ["a"], rack: [null], pci: ["0000:3b:00.0"] };
    expect(layoutFleet(hosts, [0], 1).racks[0]?.name).toBe(NO_RACK);
  });

  it("is empty for no rows", () => {
    const none = layoutFleet(small, [], 2);
    expect([none.order.length, none.racks.length, none.width]).toEqual([0, 0, 0]);
  });

  it("shows labelled tiles for a small fleet and smaller ones for a large", () => {
    const many = fleet(1, LARGE_FLEET, 2);
    expect(layoutFleet(many, all(many), 2).metrics.tileWidth).toBeLessThan(layout.metrics.tileWidth);
  });

  it("uses a wide screen for a large fleet: its shape follows the screen's", () => {
    const many = fleet(100, 40, 5);
    const { width, height } = layoutFleet(many, all(many), 2);
    expect(width / height).toBeGreaterThan(1.5);
    expect(width / height).toBeLessThan(2.7);
  });
});

describe("hit testing", () => {
  it("finds each tile at its middle and at its first pixel", () => {
    const { tileWidth, tileHeight } = layout.metrics;
    for (let i = 0; i < layout.order.length; i++) {
      const x = layout.x[i] ?? 0;
      const y = layout.y[i] ?? 0;
      expect(tileAt(layout, x + tileWidth / 2, y + tileHeight / 2)).toBe(i);
      expect(tileAt(layout, x, y)).toBe(i);
    }
  });

  it("finds nothing in the gap next to a tile, on a label, or outside", () => {
    const x = (layout.x[0] ?? 0) + layout.metrics.tileWidth + 1;
    expect(tileAt(layout, x, (layout.y[0] ?? 0) + 5)).toBe(-1);
    expect(tileAt(layout, (layout.x[0] ?? 0) + 5, (layout.y[0] ?? 0) - 5)).toBe(-1);
    expect(tileAt(layout, -10, -10)).toBe(-1);
  });
});

describe("moving by arrow keys", () => {
  it("goes along a host and stops at the ends", () => {
    expect(neighbour(layout, 0, "right")).toBe(1);
    expect(neighbour(layout, 0, "left")).toBe(0);
    expect(neighbour(layout, layout.order.length - 1, "right")).toBe(layout.order.length - 1);
  });

  it("goes down to the tile below and up again", () => {
    const below = neighbour(layout, 1, "down");
    expect(layout.x[below]).toBe(layout.x[1]);
    expect(layout.y[below]).toBeGreaterThan(layout.y[1] ?? 0);
    expect(neighbour(layout, below, "up")).toBe(1);
  });

  it("stays where it is when there is nothing further", () => {
    expect(neighbour(layout, 0, "up")).toBe(0);
    expect(neighbour(layoutFleet(small, [], 1), -1, "right")).toBe(-1);
  });
});

describe("the view", () => {
  it("fits the whole fleet into the screen", () => {
    const view = fit(layout, 1200, 700, false);
    expect(layout.width * view.scale).toBeLessThanOrEqual(1200);
    expect(layout.height * view.scale).toBeLessThanOrEqual(700);
  });

  it("zooms about the pointer: the point under it stays", () => {
    const view = { scale: 1, offsetX: 10, offsetY: 20 };
    const zoomed = zoomAt(view, 2, 300, 200, 0.1);
    expect((300 - zoomed.offsetX) / zoomed.scale).toBeCloseTo((300 - view.offsetX) / view.scale);
    expect((200 - zoomed.offsetY) / zoomed.scale).toBeCloseTo((200 - view.offsetY) / view.scale);
  });

  it("does not zoom past its limits", () => {
    expect(zoomAt({ scale: 1, offsetX: 0, offsetY: 0 }, 1000, 0, 0, 0.1).scale).toBe(6);
    expect(zoomAt({ scale: 1, offsetX: 0, offsetY: 0 }, 0.0001, 0, 0, 0.1).scale).toBe(0.1);
  });

  it("moves only as far as needed to reveal a tile", () => {
    const view = { scale: 1, offsetX: 0, offsetY: 0 };
    const last = layout.order.length - 1;
    const moved = reveal(view, layout, last, 400, 300);
    const right = (layout.x[last] ?? 0) + layout.metrics.tileWidth + moved.offsetX;
    expect(right).toBeLessThanOrEqual(400);
    expect(reveal(moved, layout, last, 400, 300)).toBe(moved);
  });
});
