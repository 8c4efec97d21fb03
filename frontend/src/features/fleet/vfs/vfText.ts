import type { VirtualFunction } from "@/lib/api/types";
import type { VfUse, VfView } from "./vfView";

/** The share of its rate limit above which a function counts as being at it: counters and limiters do not agree to the last percent. */
const AT_LIMIT = 0.95;

export function isUsed(vf: VirtualFunction): boolean {
  return vf.container !== null || vf.state === "elsewhere" || vf.state === "passthrough";
}

/** Who has a function, in a word or two. */
export function holderText(vf: VirtualFunction): string {
  const { container } = vf;
  if (container) return container.pod ?? `container ${container.id?.slice(0, 12) ?? "unnamed"}`;
  switch (vf.state) {
    case "elsewhere":
      return "another network namespace";
    case "passthrough":
      return "a virtual machine or program";
    case "unbound":
      return "no driver is bound";
    case "host":
      return "free";
    default:
      return "unknown";
  }
}

/** The kernel and the CNI chain disagree; a sample that is older than the container proves nothing. */
export function contradiction(vf: VirtualFunction, at: string | null): string | null {
  if (!vf.container || at === null || Date.parse(at) <= Date.parse(vf.container.since)) return null;
  if (vf.state === "unbound") return "The CNI plugin never released it, but no driver is bound.";
  if (vf.state === "host") return "The CNI plugin never released it, but its network device is on the host.";
  return null;
}

export function isAtLimit(vf: VirtualFunction): boolean {
  return (
    vf.tx_gbps !== null &&
    vf.max_tx_mbps !== null &&
    vf.max_tx_mbps > 0 &&
    vf.tx_gbps * 1000 >= vf.max_tx_mbps * AT_LIMIT
  );
}

export function limitText(mbps: number | null): string {
  if (mbps === null) return "–";
  if (mbps === 0) return "none";
  return mbps % 1000 === 0 ? `${mbps / 1000} Gbit/s` : `${mbps} Mbit/s`;
}

/** What the host has set for a function, for the reader who asks. */
export function settingsText(vf: VirtualFunction): string {
  const switched = (on: boolean | null) => (on === null ? null : on ? "on" : "off");
  const parts: [string, string | number | null][] = [
    ["representor", vf.representor && `${vf.representor}${vf.operstate ? ` (${vf.operstate})` : ""}`],
    ["MAC", vf.mac],
    ["VLAN", vf.vlan === 0 ? "none" : vf.vlan],
    ["link", vf.link_state],
    ["trust", switched(vf.trust)],
    ["spoof check", switched(vf.spoof_check)],
    ["guaranteed rate", vf.min_tx_mbps ? limitText(vf.min_tx_mbps) : null],
    ["values missing", vf.values_missing || null],
  ];
  const known = parts.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return known.length > 0
    ? known.map(([name, value]) => `${name} ${value ?? ""}`).join(" · ")
    : "The host reported no settings for this function.";
}

const USES: Record<VfUse, (vf: VirtualFunction) => boolean> = { used: isUsed, free: (vf) => !isUsed(vf) };

/** The functions that the view asks for: text is looked for in everything that names a function or its container. */
export function filterVfs(all: readonly VirtualFunction[], view: VfView): VirtualFunction[] {
  const text = view.vfText?.toLowerCase();
  return all.filter((vf) => {
    if (view.vfUse && !USES[view.vfUse](vf)) return false;
    if (!text) return true;
    const words = [
      `vf ${vf.vf}`,
      vf.pci,
      vf.representor,
      vf.netdev,
      vf.mac,
      holderText(vf),
      vf.container?.id,
      vf.container?.owner,
      ...Object.entries(vf.container?.labels ?? {}).map(([name, value]) => `${name}=${value}`),
      ...(vf.container?.addresses ?? []),
    ];
    return words.some((word) => word?.toLowerCase().includes(text));
  });
}
