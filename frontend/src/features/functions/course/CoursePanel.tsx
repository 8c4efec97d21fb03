import { List, Stack, Text } from "@mantine/core";
import { lazy, Suspense } from "react";
import type { FunctionCourse } from "@/lib/api/types";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { useCourse } from "../queries";
import { breakText, modelText, trendText } from "./courseText";

/** The charts are a third of all code; the page must not wait for them. */
const CourseChart = lazy(() => import("./CourseChart").then((module) => ({ default: module.CourseChart })));

interface Props {
  host: string;
  pci: string;
  /** The function that the page is about; another one of the card where it is not measured. */
  shown: string | undefined;
}

/** How a function came to what it loses, where its traffic is going, and how right its model has been. */
export function CoursePanel({ host, pci, shown }: Props) {
  const course = useCourse(host, pci);
  const of = (functions: readonly FunctionCourse[]) => functions.find(({ name }) => name === shown) ?? functions[0];
  const name = course.data && of(course.data.functions)?.name;
  return (
    <Panel
      title="Over time"
      aside={
        name && <Text span size="xs" c="dimmed">{`what ${name} loses: the last two hours, and the next one`}</Text>
      }
    >
      <QueryState
        query={course}
        lines={6}
        isEmpty={({ functions }) => functions.length === 0}
        empty={
          <Text size="sm" c="dimmed">
            No function of this card was measured in the last two hours.
          </Text>
        }
      >
        {({ functions }) => <Course course={of(functions)} />}
      </QueryState>
    </Panel>
  );
}

function Course({ course }: { course: FunctionCourse | undefined }) {
  if (!course) return null;
  const breaks = breakText(course);
  return (
    <Stack gap={8}>
      <List size="sm" listStyleType="none" aria-label="Over time">
        {breaks && (
          <List.Item>
            {course.breaks_in_min === null ? breaks : <StatusMark tone="warn">{breaks}</StatusMark>}
          </List.Item>
        )}
        <List.Item>{trendText(course)}</List.Item>
        <List.Item>{modelText(course)}</List.Item>
      </List>
      {course.past.length > 0 && (
        <Suspense fallback={null}>
          <CourseChart course={course} />
        </Suspense>
      )}
    </Stack>
  );
}
