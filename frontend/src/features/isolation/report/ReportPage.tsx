import { ActionIcon, Button, Group, SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { IconChevronLeft, IconChevronRight, IconDownload } from "@tabler/icons-react";
import { useState } from "react";
import type { SloReport } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { Figures } from "../Figures";
import { useReport } from "../queries";
import { TenantsHeader } from "../TenantsHeader";
import { keptText, secondsText } from "../text";
import { ReportTable } from "./ReportTable";
import { totalsOf } from "./reportText";
import {
  DEFAULT_OBJECTIVE,
  monthBy,
  monthChoices,
  monthName,
  monthOf,
  OBJECTIVES,
  reportHref,
  type ReportSearch,
} from "./search";

interface Props {
  search: ReportSearch;
  onSearch: (search: ReportSearch) => void;
}

function percent(objective: number): string {
  return `${Number((objective * 100).toPrecision(6))}%`;
}

function ReportFigures({ report }: { report: SloReport }) {
  const totals = totalsOf(report);
  const noun = report.by === "vf" ? "VF" : "tenant";
  return (
    <Figures
      label="Summary"
      figures={[
        {
          label: "Seconds kept",
          value: keptText(totals.keptShare),
          note: "of the seconds with a promise and evidence",
        },
        {
          label: `Objective ${percent(report.objective)}`,
          value: totals.missed > 0 ? `missed by ${plural(totals.missed, noun)}` : totals.met > 0 ? "met by all" : "–",
          tone: totals.missed > 0 ? "bad" : undefined,
          note: `met by ${plural(totals.met, noun)}`,
        },
        { label: "Broken", value: secondsText(totals.brokenS), note: "summed over VFs" },
        { label: "Unknown", value: secondsText(totals.unknownS), note: "no evidence: neither kept nor broken" },
      ]}
    />
  );
}

/** How well promises were kept in a month, by tenant or by VF, to read and to hand on. */
export function ReportPage({ search, onSearch }: Props) {
  const [now] = useState(() => Date.now());
  const month = search.month ?? monthOf(now);
  const by = search.by ?? "tenant";
  const objective = search.objective ?? DEFAULT_OBJECTIVE;
  const report = useReport(month, by, objective);
  const show = (changes: Partial<ReportSearch>) => onSearch({ ...search, ...changes });
  const goTo = (next: string) => show({ month: next === monthOf(now) ? undefined : next });
  return (
    <Stack gap={12}>
      <TenantsHeader
        actions={
          <Group gap={8}>
            {(["csv", "json"] as const).map((format) => (
              <Button
                key={format}
                component="a"
                variant="default"
                leftSection={<IconDownload size={14} />}
                href={reportHref(month, by, objective, format)}
                download={`wallwatch-slo-${month}-by-${by}.${format}`}
              >
                Download {format.toUpperCase()}
              </Button>
            ))}
          </Group>
        }
      />
      <Group gap={8} role="search" aria-label="Choose a report">
        <Group gap={2}>
          <ActionIcon variant="default" size={30} aria-label="Previous month" onClick={() => goTo(monthBy(month, -1))}>
            <IconChevronLeft size={14} />
          </ActionIcon>
          <Select
            aria-label="Month"
            w={170}
            allowDeselect={false}
            data={monthChoices(now, month)}
            value={month}
            onChange={(value) => value !== null && goTo(value)}
          />
          <ActionIcon
            variant="default"
            size={30}
            aria-label="Next month"
            disabled={month >= monthOf(now)}
            onClick={() => goTo(monthBy(month, 1))}
          >
            <IconChevronRight size={14} />
          </ActionIcon>
        </Group>
        <SegmentedControl
          aria-label="Rows"
          value={by}
          onChange={(value) => show({ by: value === "vf" ? value : undefined })}
          data={[
            { value: "tenant", label: "By tenant" },
            { value: "vf", label: "By VF" },
          ]}
        />
        <SegmentedControl
          aria-label="Objective"
          value={String(objective)}
          onChange={(value) => show({ objective: Number(value) === DEFAULT_OBJECTIVE ? undefined : Number(value) })}
          data={OBJECTIVES.map((each) => ({ value: String(each), label: percent(each) }))}
        />
      </Group>
      {report.error && !report.data ? (
        <ProblemNotice error={report.error} onRetry={() => void report.refetch()} />
      ) : (
        <>
          {report.data && report.data.rows.length > 0 && <ReportFigures report={report.data} />}
          <Panel
            title={monthName(month)}
            flush={Boolean(report.data?.rows.length)}
            aside={
              <Text size="xs" c="dimmed">
                {month === monthOf(now) ? "so far, " : ""}UTC · least error budget left first
              </Text>
            }
          >
            <QueryState
              query={report}
              lines={8}
              isEmpty={(data) => data.rows.length === 0}
              empty={
                <EmptyState title={`No verdicts in ${monthName(month)}`}>
                  Seconds are counted from the moment on at which a VF has an SLO and reports its traffic.
                </EmptyState>
              }
            >
              {(data) => <ReportTable rows={data.rows} by={by} />}
            </QueryState>
          </Panel>
        </>
      )}
    </Stack>
  );
}
