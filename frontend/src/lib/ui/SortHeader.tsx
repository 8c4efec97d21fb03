import { Table, UnstyledButton } from "@mantine/core";
import classes from "./SortHeader.module.css";

interface Props {
  title: string;
  width?: number | string | undefined;
  className?: string | undefined;
  /** Which way the rows are sorted by this column; null when by another one. */
  way: "ascending" | "descending" | null;
  /** Undefined where rows can't be sorted by this column. */
  onSort: (() => void) | undefined;
}

/** The head of a column, and the button that asks for its order. */
export function SortHeader({ title, width, className, way, onSort }: Props) {
  return (
    <Table.Th w={width} className={className} aria-sort={way ?? undefined}>
      {onSort ? (
        <UnstyledButton className={classes["sort"]} onClick={onSort}>
          {title}
          <span aria-hidden="true" className={classes["arrow"]} data-off={way === null ? true : undefined}>
            {way === null ? "↕" : way === "ascending" ? "▲" : "▼"}
          </span>
        </UnstyledButton>
      ) : (
        title
      )}
    </Table.Th>
  );
}
