import { useMemo } from "react";
import type { VirtualFunctions } from "@/lib/api/types";
import { DataTable } from "@/lib/ui/DataTable";
import { EmptyState } from "@/lib/ui/EmptyState";
import { filterVfs } from "./vfText";
import { vfColumns } from "./vfColumns";
import { fromSorting, toSorting, type VfView } from "./vfView";

interface Props {
  data: VirtualFunctions;
  view: VfView;
  onView: (view: VfView) => void;
}

/** As high as the charts beside it; a card may have hundreds of functions. */
const HEIGHT = 440;

export function VfTable({ data, view, onView }: Props) {
  const shown = useMemo(() => filterVfs(data.items, view), [data.items, view]);
  const columns = useMemo(() => vfColumns(data.at), [data.at]);
  const sorting = useMemo(() => toSorting(view), [view]);
  if (shown.length === 0) return <EmptyState title="No virtual function matches">Clear the filter to see all {data.items.length}.</EmptyState>;
  return (
    <div style={{ maxHeight: HEIGHT, overflow: "auto" }} role="group" aria-label="Rows of virtual functions" tabIndex={0}>
      <DataTable label="Virtual functions" data={shown} columns={columns} sorting={sorting} onSorting={(next) => onView({ ...view, vfSort: fromSorting(next) })} sticky />
    </div>
  );
}
