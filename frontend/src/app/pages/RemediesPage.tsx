import { Stack, Title } from "@mantine/core";
import { AutomationPanel } from "@/features/automation/AutomationPanel";
import { ApprovalQueue } from "@/features/control/ApprovalQueue";
import { ControlPanel } from "@/features/control/ControlPanel";
import { RemedyHistory } from "@/features/remedies/RemedyHistory";
import type { RemedySearch } from "@/features/remedies/search";

interface Props {
  search: RemedySearch;
  onSearch: (search: RemedySearch) => void;
}

/** What holds remedies back, what waits for a decision, what runs by itself, and everything that was done to a host. */
export function RemediesPage({ search, onSearch }: Props) {
  return (
    <Stack gap={12}>
      <Title order={1}>Remedies</Title>
      <ControlPanel />
      <ApprovalQueue onOpen={(remedy) => onSearch({ ...search, remedy })} />
      <AutomationPanel />
      <RemedyHistory search={search} onSearch={onSearch} />
    </Stack>
  );
}
