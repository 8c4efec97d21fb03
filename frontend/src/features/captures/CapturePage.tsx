import { Progress, Stack, Text } from "@mantine/core";
import type { CaptureDetail } from "@/lib/api/types";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { CaptureHeader } from "./CaptureHeader";
import { isOpen, verdictOf } from "./captureText";
import { LatencyPanel } from "./LatencyPanel";
import { NotificationPanel } from "./NotificationPanel";
import { useCapture } from "./queries";
import { QueuePairPanel } from "./QueuePairPanel";
import { RetransmissionPanel } from "./RetransmissionPanel";
import type { CaptureSearch } from "./search";
import { SequencePanel } from "./SequencePanel";
import { SummaryPanel } from "./SummaryPanel";
import { ViolationPanel } from "./ViolationPanel";

interface Props {
  id: string;
  search: CaptureSearch;
  onSearch: (change: CaptureSearch) => void;
  onDeleted: () => void;
}

function Analysed({ capture, search, onSearch }: { capture: CaptureDetail } & Pick<Props, "search" | "onSearch">) {
  const { analysis } = capture;
  if (!analysis)
    return (
      <Panel title="Analysis">
        {isOpen(capture) ? (
          <Stack gap={8} role="status">
            <Text size="sm">{verdictOf(capture).text}</Text>
            <Progress value={100 * capture.progress} aria-label="Analysed share of the file" />
          </Stack>
        ) : (
          <EmptyState title="The analysis failed">{capture.problem}</EmptyState>
        )}
      </Panel>
    );
  return (
    <>
      <SummaryPanel analysis={analysis} />
      {analysis.violations.length > 0 && <ViolationPanel analysis={analysis} />}
      <QueuePairPanel capture={capture} analysis={analysis} onChart={(qp) => onSearch({ qp })} />
      {capture.series.length > 0 && (
        <SequencePanel capture={capture} place={search.qp ?? 0} onPlace={(qp) => onSearch({ qp })} />
      )}
      <LatencyPanel id={capture.id} analysis={analysis} model={search.model} onModel={(model) => onSearch({ model })} />
      {analysis.retransmissions.length > 0 && <RetransmissionPanel analysis={analysis} />}
      {analysis.notification_points.length > 0 && <NotificationPanel analysis={analysis} />}
    </>
  );
}

/** One capture: its verdict, and what it shows. */
export function CapturePage({ id, search, onSearch, onDeleted }: Props) {
  const capture = useCapture(id);
  return (
    <QueryState query={capture} lines={10}>
      {(data) => (
        <Stack gap={12}>
          <CaptureHeader capture={data} incident={search.incident} onDeleted={onDeleted} />
          <Analysed capture={data} search={search} onSearch={onSearch} />
        </Stack>
      )}
    </QueryState>
  );
}
