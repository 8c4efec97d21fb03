import "@/lib/ui/mantineMore.css";
import { useMemo } from "react";
import { SeriesChart } from "@/charts/series/SeriesChart";
import type { FunctionCourse } from "@/lib/api/types";
import { formatTime } from "@/lib/time/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { courseModel } from "./courseModel";

export function CourseChart({ course }: { course: FunctionCourse }) {
  const { zone } = useTimeFormat();
  const model = useMemo(
    () =>
      courseModel(course, {
        axis: (ms) => formatTime(ms, zone).slice(11, 16),
        tooltip: (ms) => formatTime(ms, zone),
      }),
    [course, zone],
  );
  return <SeriesChart model={model} title={`Share of solo throughput that ${course.name} loses`} height={190} />;
}
