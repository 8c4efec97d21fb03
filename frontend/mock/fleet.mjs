/** A made-up fleet for looking at the pages without a backend: development and screenshots only, never shipped. */
const MODELS = ["CX-6", "CX-7", "BF-3", "CX-5", "E810", "CX-4"];

/** Repeatable pseudo-random numbers in [0, 1) (mulberry32). */
export function seeded(seed) {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const PCI = [
  "0000:3b:00.0",
  "0000:5e:00.0",
  "0000:86:00.0",
  "0000:af:00.0",
  "0000:1a:00.0",
  "0000:65:00.0",
  "0000:b1:00.0",
  "0000:d8:00.0",
];
const WALLS = ["offloaded_flows", "egress_masks", "ingress_masks", "flow_insertions", "encap_contexts"];

export function makeFleet({ hosts, perHost, perRack, sick = true }) {
  const random = seeded(7);
  const c = {
    host: [],
    rack: [],
    pci: [],
    model: [],
    headroom: [],
    nearest_wall: [],
    symptoms: [],
    recent: [],
    seen_at_ms: [],
    cordoned: [],
    tx_gbps: [],
    rx_gbps: [],
  };
  const now = Date.now();
  const width = String(hosts).length;
  for (let h = 0; h < hosts; h++) {
    const model = MODELS[Math.floor(random() * MODELS.length)];
    for (let n = 0; n < perHost; n++) {
      const i = c.host.length;
      const headroom = Math.round((0.35 + random() * 0.55) * 1000) / 1000;
      c.host.push(`host${String(h + 1).padStart(Math.max(2, width), "0")}`);
      c.rack.push(`r${Math.floor(h / perRack) + 1}`);
      c.pci.push(PCI[n]);
      c.model.push(model);
      c.headroom.push(random() < 0.04 ? 0.18 : headroom);
      c.nearest_wall.push(WALLS[Math.floor(random() * 2)]);
      c.symptoms.push([]);
      c.recent.push([]);
      c.seen_at_ms.push(now - Math.floor(random() * 4000));
      c.cordoned.push(false);
      c.tx_gbps.push(Math.round(random() * 900) / 10);
      c.rx_gbps.push(Math.round(random() * 900) / 10);
      if (!sick) continue;
      const at = i / (hosts * perHost);
      if (i === Math.floor(hosts * perHost * 0.3))
        Object.assign(row(c, i), { headroom: -0.12, symptoms: ["S1"], nearest_wall: "offloaded_flows" }).write();
      else if (i === Math.floor(hosts * perHost * 0.62))
        Object.assign(row(c, i), { headroom: 0.04, symptoms: ["S6"], nearest_wall: "egress_masks" }).write();
      else if (i === Math.floor(hosts * perHost * 0.1)) Object.assign(row(c, i), { recent: ["S7"] }).write();
      else if (i === Math.floor(hosts * perHost * 0.45))
        Object.assign(row(c, i), { symptoms: ["unexplained"], headroom: 0.41 }).write();
      else if (h === hosts - 1) Object.assign(row(c, i), { symptoms: ["silent"], seen_at_ms: now - 240_000 }).write();
      else if (i === Math.floor(hosts * perHost * 0.8)) Object.assign(row(c, i), { headroom: 0.07 }).write();
      else if (at > 0.9 && random() < 0.12) Object.assign(row(c, i), { seen_at_ms: now - 600_000 }).write();
      else if (at > 0.5 && random() < 0.02) Object.assign(row(c, i), { cordoned: true }).write();
      else if (random() < 0.01) Object.assign(row(c, i), { headroom: null, nearest_wall: null }).write();
    }
  }
  return c;
}

function row(columns, i) {
  const values = {};
  Object.defineProperty(values, "write", {
    value: () => {
      for (const [name, value] of Object.entries(values)) columns[name][i] = value;
    },
  });
  return values;
}
