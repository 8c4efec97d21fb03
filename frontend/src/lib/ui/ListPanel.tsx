import { Button, Group } from "@mantine/core";
import type { ReactNode } from "react";
import type { Pages } from "../api/usePages";
import { Panel } from "./Panel";
import { ProblemNotice } from "./ProblemNotice";
import { QueryState } from "./QueryState";

interface Props<T> {
  title: string;
  aside?: ReactNode;
  actions?: ReactNode;
  pages: Pages<T>;
  /** What went wrong with the last change of the list; null when nothing did. */
  problem?: unknown;
  empty: ReactNode;
  /** Of the button that fetches the next page. */
  moreLabel: string;
  /** Its table is long, and its head stays in sight. */
  long?: boolean;
  children: (items: readonly T[]) => ReactNode;
}

/** A list of the API in a panel: its four states, the error of a change, and the way to more of it. */
export function ListPanel<T>({ title, aside, actions, pages, problem, empty, moreLabel, long, children }: Props<T>) {
  return (
    <Panel title={title} aside={aside} actions={actions} flush long={long}>
      {problem !== null && problem !== undefined && (
        <div style={{ padding: 12 }}>
          <ProblemNotice error={problem} />
        </div>
      )}
      <div style={{ padding: pages.data && !pages.error ? 0 : 12 }}>
        <QueryState query={pages} lines={6} isEmpty={(items) => items.length === 0} empty={empty}>
          {children}
        </QueryState>
      </div>
      {pages.hasNextPage && (
        <Group justify="center" p={8}>
          <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            {moreLabel}
          </Button>
        </Group>
      )}
    </Panel>
  );
}
