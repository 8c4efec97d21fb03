import { Grid, Stack, Table, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { SurfacePoint } from "@/charts/surface/model";
import type { Profile } from "@/lib/api/types";
import { formatNumber, plural } from "@/lib/format";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { ComparePanel } from "./ComparePanel";
import type { ProfileSearch } from "./filters";
import { useProfile } from "./queries";
import { SurfacePanel } from "./SurfacePanel";
import { VersionPanel } from "./VersionPanel";
import { VersionsPanel } from "./VersionsPanel";
import { WhatIfPanel } from "./WhatIfPanel";

interface Props {
  model: string;
  search: ProfileSearch;
  onSearch: (search: ProfileSearch) => void;
}

function LimitsPanel({ profile }: { profile: Profile }) {
  return (
    <Panel title="Limits of the walls" flush>
      <HeadedTable label="Limits" titles={["Wall", "Limit", "From", "Source"]}>
        {profile.limits.map((limit) => (
          <Table.Tr key={limit.wall} data-wall={limit.wall}>
            <Table.Td>{limit.label}</Table.Td>
            <Table.Td style={{ whiteSpace: "nowrap" }}>
              {formatNumber(limit.value)} {limit.unit}
            </Table.Td>
            <Table.Td>{limit.basis}</Table.Td>
            <Table.Td>
              <Text size="xs">{limit.source}</Text>
            </Table.Td>
          </Table.Tr>
        ))}
      </HeadedTable>
    </Panel>
  );
}

function Known({
  profile,
  search,
  onSearch,
}: {
  profile: Profile;
  search: ProfileSearch;
  onSearch: Props["onSearch"];
}) {
  const [asked, setAsked] = useState<SurfacePoint>();
  return (
    <Stack gap={12}>
      <header>
        <Title order={1}>{profile.title}</Title>
        <Text size="sm" c="dimmed">
          {profile.model} · {profile.vendor} · {plural(profile.rnics, "RNIC")} ·{" "}
          {profile.active === 0 ? "the built-in profile is active" : `version ${profile.active} is active`}
        </Text>
        {profile.parameters_basis === "assumed" && (
          <Text size="sm" maw={900}>
            The performance of this model is assumed. {profile.parameters_source}. Calibrate the model to replace it.
          </Text>
        )}
      </header>
      <Grid gap={12}>
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack gap={12}>
            <SurfacePanel
              profile={profile}
              latency={search.quantity === "latency"}
              onLatency={(latency) => onSearch({ ...search, quantity: latency ? "latency" : undefined })}
              version={search.version}
              asked={asked}
            />
            <LimitsPanel profile={profile} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <WhatIfPanel profile={profile} onAsked={setAsked} />
        </Grid.Col>
      </Grid>
      <VersionsPanel profile={profile} search={search} onSearch={onSearch} />
      {search.version !== undefined && (
        <VersionPanel
          model={profile.model}
          number={search.version}
          onClose={() => onSearch({ ...search, version: undefined })}
        />
      )}
      {search.compare !== undefined && (
        <ComparePanel
          model={profile.model}
          left={profile.active}
          right={search.compare}
          onClose={() => onSearch({ ...search, compare: undefined })}
        />
      )}
      <Text size="xs" c="dimmed" maw={1000}>
        {profile.equation_note}
      </Text>
    </Stack>
  );
}

/** One model of RNIC: its surface with the fleet on it, its walls, its versions, and what would be if. */
export function ProfilePage({ model, search, onSearch }: Props) {
  const profile = useProfile(model);
  if (profile.error && !profile.data) {
    return (
      <Stack gap={12}>
        <Title order={1}>{model}</Title>
        <ProblemNotice error={profile.error} onRetry={() => void profile.refetch()} />
        <Text size="sm">
          <Link to="/profiles">See all profiles</Link>
        </Text>
      </Stack>
    );
  }
  return (
    <QueryState query={profile} lines={12}>
      {(data) => <Known profile={data} search={search} onSearch={onSearch} />}
    </QueryState>
  );
}
