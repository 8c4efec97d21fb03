import { Button, Group, Table, Text } from "@mantine/core";
import { useState } from "react";
import type { Profile, ProfileVersionSummary } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { ReasonDialog } from "@/lib/ui/ReasonDialog";
import { StatusMark } from "@/lib/ui/StatusMark";
import { CalibrateDialog } from "./CalibrateDialog";
import type { ProfileSearch } from "./filters";
import { scopeText, SOURCES, STATES } from "./profileText";
import { usePromote, useRollBack } from "./queries";
import { FleetDialog } from "./VersionDialogs";

type Open =
  | { kind: "perftest" }
  | { kind: "fleet" }
  | { kind: "promote"; version: ProfileVersionSummary }
  | { kind: "rollback"; version: ProfileVersionSummary }
  | null;

interface Props {
  profile: Profile;
  search: ProfileSearch;
  onSearch: (search: ProfileSearch) => void;
}

/** Every calibration of a model with what came of it, and the ways to change which one is active. */
export function VersionsPanel({ profile, search, onSearch }: Props) {
  const { time } = useTimeFormat();
  const [open, setOpen] = useState<Open>(null);
  const promote = usePromote(profile.model);
  const rollBack = useRollBack(profile.model);
  const close = () => {
    setOpen(null);
    promote.reset();
    rollBack.reset();
  };
  return (
    <Panel
      title="Versions"
      flush
      actions={
        <Group gap={6}>
          <Button size="compact-sm" variant="default" onClick={() => setOpen({ kind: "fleet" })}>
            Fit the fleet’s samples…
          </Button>
          <Button size="compact-sm" onClick={() => setOpen({ kind: "perftest" })}>
            Upload perftest files…
          </Button>
        </Group>
      }
    >
      <HeadedTable
        label="Versions"
        titles={["Version", "State", "Source", "Scope", "R²", "Created", "Promoted", "Actions"]}
      >
        {profile.versions.map((version) => (
          <Table.Tr key={version.number} data-version={version.number}>
            <Table.Td>{version.number}</Table.Td>
            <Table.Td>
              <StatusMark tone={STATES[version.state].tone}>{STATES[version.state].word}</StatusMark>
            </Table.Td>
            <Table.Td>
              {SOURCES[version.source]}
              <Text size="xs" c="dimmed">
                {version.note}
              </Text>
            </Table.Td>
            <Table.Td>{scopeText(version)}</Table.Td>
            <Table.Td>{version.parameters ? version.parameters.goodness.toFixed(3) : "–"}</Table.Td>
            <Table.Td>
              {version.created_at ? time(version.created_at) : "–"}
              <Text size="xs" c="dimmed">
                {version.created_by}
              </Text>
            </Table.Td>
            <Table.Td>
              {version.promoted_at ? time(version.promoted_at) : "–"}
              <Text size="xs" c="dimmed">
                {version.promoted_by}
              </Text>
            </Table.Td>
            <Table.Td>
              <Group gap={4} wrap="nowrap">
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Show version ${version.number}`}
                  onClick={() => onSearch({ ...search, version: version.number })}
                >
                  Show
                </Button>
                {version.parameters && version.number !== profile.active && (
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Compare version ${version.number} with the active one`}
                    onClick={() => onSearch({ ...search, compare: version.number })}
                  >
                    Compare
                  </Button>
                )}
                {version.number > 0 && version.parameters && version.state !== "active" && (
                  <Button
                    size="compact-xs"
                    aria-label={`Promote version ${version.number}`}
                    onClick={() => setOpen({ kind: "promote", version })}
                  >
                    Promote…
                  </Button>
                )}
                {version.number > 0 && version.state === "active" && (
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Roll back from version ${version.number}`}
                    onClick={() => setOpen({ kind: "rollback", version })}
                  >
                    Roll back…
                  </Button>
                )}
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
      </HeadedTable>
      {open?.kind === "perftest" && (
        <CalibrateDialog
          model={profile.model}
          onClose={close}
          onMade={(number) => onSearch({ ...search, version: number })}
        />
      )}
      {open?.kind === "fleet" && (
        <FleetDialog
          model={profile.model}
          onClose={close}
          onMade={(number) => onSearch({ ...search, version: number })}
        />
      )}
      {open?.kind === "promote" && (
        <ReasonDialog
          title={`Promote version ${open.version.number} of ${profile.model}`}
          submit="Promote"
          request={promote}
          onClose={close}
          onReason={(reason) => promote.mutate({ number: open.version.number, reason }, { onSuccess: close })}
        >
          It replaces {profile.active === 0 ? "the built-in profile" : `version ${profile.active}`} for{" "}
          {scopeText(open.version)}. Limits, symptoms and predictions follow within 15 seconds. You can roll back.
        </ReasonDialog>
      )}
      {open?.kind === "rollback" && (
        <ReasonDialog
          title={`Roll back from version ${open.version.number} of ${profile.model}`}
          submit="Roll back"
          request={rollBack}
          onClose={close}
          onReason={(reason) =>
            rollBack.mutate({ driver: open.version.driver, fw_ver: open.version.fw_ver, reason }, { onSuccess: close })
          }
        >
          The previously active version is restored for {scopeText(open.version)}; if there is none, the built-in
          profile.
        </ReasonDialog>
      )}
    </Panel>
  );
}
