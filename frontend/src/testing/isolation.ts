import type { RnicIsolation, SloClass, VfIsolation } from "@/lib/api/types";

export const HOST = "host01";
export const PCI = "0000:3b:00.0";

export const GOLD: SloClass = {
  name: "gold",
  min_mbps: 1000,
  max_mbps: 10_000,
  p50_us: 10,
  p99_us: 50,
  loss: 0.0001,
  description: "",
  rules: 0,
  version: 3,
  updated_at: "2026-11-20T10:00:00Z",
  updated_by: "dana",
};

/** A VF whose promise is kept, with what is not ordinary about it. */
export function vfOf(changes: Partial<VfIsolation> = {}): VfIsolation {
  return {
    vf: 0,
    pod: "payments/api",
    namespace: "payments",
    tenant: "payments",
    slo: {
      name: "gold",
      min_mbps: 1000,
      max_mbps: 10_000,
      p50_us: 10,
      p99_us: 50,
      loss: 0.0001,
      source: "rule",
      rule: 0,
    },
    tx_mbps: 3200,
    rx_mbps: 640,
    tx_kpps: 500,
    rx_kpps: 100,
    delay_p50_us: 7.5,
    delay_p99_us: 31,
    dropped_per_s: 0,
    share: 0.1,
    fair_share: 0.2,
    limit_mbps: null,
    state: "kept",
    role: null,
    reason: null,
    broken_s_today: 0,
    aggressor_s_today: 0,
    ...changes,
  };
}

export const VICTIM = vfOf({ state: "broken", role: "victim", delay_p99_us: 1270, broken_s_today: 75 });
export const AGGRESSOR = vfOf({
  ...{ vf: 2, pod: "ads/indexer", namespace: "ads", tenant: "ads", slo: null },
  ...{ tx_mbps: 20_000, share: 0.8, fair_share: 0.2, state: "not promised", role: "aggressor", aggressor_s_today: 75 },
});

export function rnicOf(changes: Partial<RnicIsolation> = {}): RnicIsolation {
  return {
    host: HOST,
    pci: PCI,
    model: "CX-6",
    port_mbps: 100_000,
    at: "2026-11-23T18:00:00Z",
    stale: false,
    numvfs: 2,
    doubt: "port drops in the last 60 s",
    mechanism: "ingress packet rate",
    load: 1.3,
    broken_s_today: 75,
    vfs: [VICTIM, AGGRESSOR],
    ...changes,
  };
}
