import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ListPanel } from "@/lib/ui/ListPanel";
import { useMayChange } from "@/shared/session";
import { CaptureTable } from "./CaptureTable";
import { useCaptures } from "./queries";
import type { CapturesSearch } from "./search";
import { UploadDialog } from "./UploadDialog";

/** Every uploaded capture with its verdict. */
export function CapturesPage({ search }: { search: CapturesSearch }) {
  const captures = useCaptures();
  const mayChange = useMayChange();
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <Stack gap={12}>
      <Group justify="space-between" align="flex-end">
        <div>
          <Title order={1}>Captures</Title>
          <Text size="sm" c="dimmed">
            What the transport engines of RNICs really did: each retransmission with its latencies, violations of
            go-back-N, congestion notification.
          </Text>
        </div>
        {mayChange && <Button onClick={open}>Upload a capture</Button>}
      </Group>
      <ListPanel
        title="Captures"
        pages={captures}
        empty={
          <EmptyState title="No captures yet">
            Upload a pcap or pcapng file of RoCEv2 traffic. Wallwatch keeps the analysis and deletes the packets.
          </EmptyState>
        }
        moreLabel="Show older captures"
      >
        {(items) => <CaptureTable captures={items} incident={search.incident} />}
      </ListPanel>
      {opened && <UploadDialog incident={search.incident} onClose={close} />}
    </Stack>
  );
}
