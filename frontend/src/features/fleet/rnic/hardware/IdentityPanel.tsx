import type { Rnic } from "@/lib/api/types";
import { Panel } from "@/lib/ui/Panel";

/** What the device says that it is. */
export function IdentityPanel({ rnic }: { rnic: Rnic }) {
  const facts: [string, string | null][] = [
    ["Driver", rnic.driver],
    ["RDMA device", rnic.ibdev],
    ["Network device", rnic.netdev],
    ["PCI vendor and device", rnic.pci_id],
    ["Board", rnic.board_id],
    ["Link layer", rnic.link_layer],
  ];
  return (
    <div style={{ marginBottom: 12 }}>
      <Panel title="Device">
        <dl
          style={{
            margin: 0,
            display: "grid",
            gridTemplateColumns: "auto 1fr",
            gap: "2px 14px",
            fontSize: "0.8125rem",
          }}
        >
          {facts.map(([label, value]) => (
            <div key={label} style={{ display: "contents" }}>
              <dt style={{ color: "var(--ww-dim)" }}>{label}</dt>
              <dd style={{ margin: 0, overflowWrap: "anywhere" }}>{value ?? "unknown"}</dd>
            </div>
          ))}
        </dl>
      </Panel>
    </div>
  );
}
